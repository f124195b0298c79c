#!/bin/sh
# Manual pages and completions of the rmcp command, made from what its --help says, so that they cannot differ from it.
# usage: manual.sh man RMCP COMMAND     rmcp-COMMAND(1), or rmcp(1) for "rmcp", to standard output
#        manual.sh bash|zsh|fish RMCP   completion for that shell
set -eu
kind=$1 rmcp=$2

commands() { "$rmcp" --help | awk '/^commands:/ { on = 1; next } !NF { on = 0 } on { print $1 }'; }

# The summary of a command, as rmcp --help has it.
summary() { "$rmcp" --help | awk -v name="$1" '/^commands:/ { on = 1; next } !NF { on = 0 }
    on && $1 == name { sub(/^ *[^ ]+ +/, ""); print }'; }

# Options of a command, one on each line: name, tab, value or nothing, tab, what it does.
options() {
    "$rmcp" "$1" --help | awk '
        /^options:/ { on = 1; next }
        !NF { on = 0 }
        on && /^  --/ {
            line = substr($0, 3)
            name = line; sub(/ .*/, "", name)
            rest = substr(line, length(name) + 1)
            value = ""
            if (match(rest, /^ [^ ]+/) && rest !~ /^  /) {
                value = substr(rest, 2, RLENGTH - 1)
                rest = substr(rest, RLENGTH + 1)
            }
            sub(/^ +/, "", rest)
            printf "%s%s\t%s\t%s", (n++ ? "\n" : ""), name, value, rest
            next
        }
        on { sub(/^ +/, ""); printf " %s", $0 }
        END { if (n) printf "\n" }'
}

man_page() {
    if [ "$1" = rmcp ]; then
        name=rmcp
        about='convolutions on GPUs that ROCm left behind'
        text=$("$rmcp" --help)
    else
        name=rmcp-$1
        about=$(summary "$1")
        text=$("$rmcp" "$1" --help)
    fi
    version=$("$rmcp" --version | sed "1s/.* //;1q")
    printf '%s\n' "$text" | awk -v name="$name" -v about="$about" -v version="$version" '
        function plain(s) {
            gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); gsub(/…/, "...", s); sub(/^[.\x27]/, "\\\\\\&&", s)
            return s
        }
        NR == 1 {
            upper = toupper(name)
            printf ".TH \"%s\" 1 \"\" \"RMCP %s\" \"RMCP\"\n", plain(upper), version
            printf ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", plain(name), plain(about)
            sub(/^usage: /, "")
            printf ".nf\n%s\n.fi\n.SH DESCRIPTION\n", plain($0)
            next
        }
        /^[a-z ]+:$/ { # a list: commands, options, example
            if (verbatim) print ".fi"
            head = toupper($0); sub(/:$/, "", head)
            print ".SH " head
            list = head != "EXAMPLE"; verbatim = !list
            if (verbatim) print ".nf"
            next
        }
        !NF { if (!list) print (verbatim ? "" : ".PP"); else list = 0; next }
        list && /^  [^ ]/ { # a word or an option, two blanks, what it does
            line = substr($0, 3)
            at = match(line, /  +/)
            head = at ? substr(line, 1, at - 1) : line
            rest = at ? substr(line, at + RLENGTH) : ""
            if (!at && line !~ /^-/) {
                head = line
                rest = ""
                if (match(line, / /)) { head = substr(line, 1, RSTART - 1); rest = substr(line, RSTART + 1) }
            }
            printf ".TP\n\\fB%s\\fR\n", plain(head)
            if (rest != "") print plain(rest)
            next
        }
        { if (!verbatim) sub(/^ +/, ""); print plain($0) }
        END { if (verbatim) print ".fi" }'
    printf '.SH SEE ALSO\n'
    if [ "$1" = rmcp ]; then
        commands | sed 's/.*/.BR rmcp\\-& (1),/; $s/,$//'
    else
        printf '.BR rmcp (1)\n'
    fi
}

bash_completion() {
    echo '# bash completion of rmcp'
    echo '_rmcp() {'
    echo '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words i'
    echo '    if [ "$COMP_CWORD" -eq 1 ]; then'
    echo "        COMPREPLY=(\$(compgen -W '$(commands | tr '\n' ' ')help --help --version' -- \"\$word\"))"
    echo '        return'
    echo '    fi'
    echo '    for ((i = 2; i < COMP_CWORD; i++)); do # behind -- stands a command of its own'
    # shellcheck disable=SC2016
    echo '        [ "${COMP_WORDS[i]}" != -- ] || { COMPREPLY=($(compgen -c -f -- "$word")); return; }'
    echo '    done'
    echo '    case $before in'
    # shellcheck disable=SC2016
    echo '    --device) COMPREPLY=($(compgen -W "auto cpu opencl cuda hip" -- "$word")); return ;;'
    echo '    esac'
    echo '    case $command in'
    for command in $(commands); do
        echo "    $command) words='$(options "$command" | cut -f 1 | tr '\n' ' ')' ;;"
    done
    echo "    help) words='$(commands | tr '\n' ' ')' ;;"
    echo "    *) words=--help ;;"
    echo '    esac'
    # shellcheck disable=SC2016
    echo '    case $word in'
    # shellcheck disable=SC2016
    echo '    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;'
    # shellcheck disable=SC2016
    printf '%s' '    *) if [ "$command" = help ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); '
    # shellcheck disable=SC2016
    echo 'else COMPREPLY=($(compgen -f -- "$word")); fi ;;'
    echo '    esac'
    echo '}'
    echo 'complete -o filenames -F _rmcp rmcp'
}

# In single quotes, for zsh and fish.
quoted() { sed "s/'/'\\\\''/g"; }

zsh_completion() {
    echo '#compdef rmcp'
    echo '# zsh completion of rmcp'
    echo '_rmcp() {'
    echo '    if ((CURRENT == 2)); then'
    echo '        local -a commands=('
    for command in $(commands); do
        printf "            '%s:%s'\n" "$command" "$(summary "$command" | sed 's/:/\\:/g' | quoted)"
    done
    echo '        )'
    echo "        _describe command commands"
    echo '        return'
    echo '    fi'
    # shellcheck disable=SC2016
    echo '    case $words[2] in'
    for command in $(commands); do
        printf '    %s) shift words; ((CURRENT--)); _arguments' "$command"
        options "$command" | while IFS='	' read -r name value about; do
            about=$(printf '%s' "$about" | sed 's/[][:\\]/\\&/g' | quoted)
            case $name in
            --device) printf " \\\\\n        '%s[%s]:device:(auto cpu opencl cuda hip)'" "$name" "$about" ;;
            *) printf " \\\\\n        '%s[%s]%s'" "$name" "$about" "${value:+:value:_files}" ;;
            esac
        done
        printf " \\\\\n        '*:file:_files' ;;\n"
    done
    echo '    esac'
    echo '}'
    # shellcheck disable=SC2016
    echo '_rmcp "$@"'
}

fish_completion() {
    echo '# fish completion of rmcp'
    all=$(commands | tr '\n' ' ')
    echo "set -l commands $all"
    for command in $(commands); do
        printf "complete -c rmcp -f -n \"not __fish_seen_subcommand_from \$commands\" -a %s -d '%s'\n" \
            "$command" "$(summary "$command" | sed "s/'/\\\\'/g")"
    done
    for command in $(commands); do
        options "$command" | while IFS='	' read -r name value about; do
            more=
            [ -z "$value" ] || more=' -r'
            [ "$name" != --device ] || more=" -x -a 'auto cpu opencl cuda hip'"
            printf "complete -c rmcp -n '__fish_seen_subcommand_from %s' -l %s%s -d '%s'\n" "$command" "${name#--}" \
                "$more" "$(printf '%s' "$about" | sed "s/'/\\\\'/g")"
        done
    done
}

case $kind in
man) man_page "$3" ;;
bash | zsh | fish) "${kind}_completion" ;;
*) echo "manual.sh: no such kind: $kind" >&2 && exit 2 ;;
esac
