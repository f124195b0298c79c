#!/bin/sh
# The results page and its pictures, from the times that are kept in data/results: results.sh RMCP FOLDER
# Writes results.html, which needs no other file, and one picture for each pass; docs/results.md shows these. A test
# compares what is in docs with what this makes.
set -eu
rmcp=$1 folder=$2
data=$(cd "$(dirname "$0")/../data/results" && pwd)
"$rmcp" bench --from "$data/h200-cudnn.csv" --html "$folder/results.html" --limit 66900,4800 \
    --title 'NVIDIA H200: RMCP and PyTorch 2.11 with cuDNN 9.19, f32 without TF32'
# A picture by itself has the page's colours, and neither its titles (the case of each dot) nor its fonts.
style='<style>text{font:14px sans-serif;fill:#5b6475}.m{text-anchor:middle}.e{text-anchor:end}path{fill:none}'
style=$style'.grid{stroke:#d9dde5}.axis{stroke:#5b6475;stroke-width:1.5}.mean{stroke:#1d2330;stroke-width:3}'
style=$style'.us{fill:#0b62d6;fill-opacity:.6}.them{fill:#b4540a;fill-opacity:.6}'
style=$style'@media(prefers-color-scheme:dark){text{fill:#9ba5b7}.grid{stroke:#353c49}.axis{stroke:#9ba5b7}'
style=$style'.mean{stroke:#e5e9f0}.us{fill:#6aa8ff}.them{fill:#f0a35e}}</style>'
for pass in forward 'backward data' 'backward weights'; do
    sed -n "/<h3>Ratios: $pass<\/h3>/,/<\/svg>/p" "$folder/results.html" | sed '1d; s/<title>[^<]*<\/title>//' |
        sed "1s|\$|$style|" >"$folder/results-$(echo "$pass" | tr ' ' -).svg"
done
