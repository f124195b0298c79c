#: run
# shellcheck shell=sh disable=SC2154 # the variables at the top
# ---- From here on: how the steps are run. It is the same in every recipe. ------------------------------------------

# Each step: the mark of what it does, its name, minutes (c: of one core), GB that it needs, what it does.
steps() {
    cat <<'END'
@steps@
END
}

marks=$folder/.recipe
child='' keeper='' watcher=''
cores=$(nproc 2>/dev/null) || cores=1

# A step is done when its mark is there, and what it does has not changed since.
is_done() { [ "$(cat "$marks/$1" 2>/dev/null)" = "$2" ]; }

# What is left: steps, minutes, GB.
left() {
    steps | while read -r its_mark its_name its_minutes its_room _; do
        is_done "$its_name" "$its_mark" || printf '%s %s\n' "$its_minutes" "$its_room"
    done | awk -v cores="$cores" '{ m += $1 ~ /c$/ ? $1 / cores : $1; g += $2 }
        END { printf "%d %d %d\n", NR, m + 0.5, g }'
}

duration() {
    if [ "$1" -lt 1 ]; then
        echo "less than a minute"
    elif [ "$1" -lt 100 ]; then
        echo "$1 minutes"
    else
        echo "$((($1 + 30) / 60)) hours"
    fi
}

# GB that are free where the folder is, or will be.
free_room() {
    at=$folder
    while [ ! -d "$at" ]; do at=$(dirname "$at"); done
    df -Pk "$at" | awk 'END { printf "%d\n", $4 / 1000000 * 1.024 }'
}
memory_there() {
    awk '/^(MemTotal|SwapTotal):/ { sum += $2 } END { printf "%d\n", sum / 1000000 * 1.024 + 0.5 }' /proc/meminfo
}

# plan: says everything before anything is done. False when this machine has not what it takes.
plan() {
    enough=true
    # shellcheck disable=SC2046 # three numbers
    set -- $(left)
    free=$(free_room) memory=$(memory_there) all=$(steps | wc -l)
    printf '%s, in %s%s\n' "$recipe" "$folder" "${card:+, for $card}"
    printf '  steps   %s, %s of them done\n' "$all" "$((all - $1))"
    printf '  time    about %s\n' "$(duration "$2")"
    printf '  disk    %s GB more, %s GB are free\n' "$3" "$free"
    printf '  memory  %s GB, %s GB are there (swap counted)\n' "$needs_memory" "$memory"
    [ "$3" -le "$free" ] ||
        { enough=false && echo "  NOT ENOUGH DISK: make room, or choose another folder (--folder)"; }
    [ "$needs_memory" -le "$memory" ] || { enough=false && echo "  NOT ENOUGH MEMORY: swap helps, slowly"; }
    steps | while read -r its_mark its_name _ _ its_title; do
        printf '  %-4s %-12s %s\n' "$(if is_done "$its_name" "$its_mark"; then echo "done"; else echo -; fi)" \
            "$its_name" "$its_title"
    done
    if command -v more_plan >/dev/null; then more_plan; fi
    [ $enough = true ] || [ -n "${RECIPE_ANYWAY-}" ]
}

# word TEXT: as one word of the shell, for scripts that are written here.
word() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

# as_root COMMAND…
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# end_tree SHELL: one of ours at once, for a signal may be lost while it begins; then what it had started, politely.
end_tree() {
    # shellcheck disable=SC2046 # numbers
    set -- "$1" $(ps -o pid= --ppid "$1" 2>/dev/null)
    kill -KILL "$1" 2>/dev/null || true
    shift
    for top; do end_below "$top"; done
}
end_below() {
    for below in $(ps -o pid= --ppid "$1" 2>/dev/null); do end_below "$below"; done
    kill "$1" 2>/dev/null || true
}

tidy() {
    for one in $watcher $keeper; do end_tree "$one"; done
    watcher='' keeper=''
    [ "$(cat "$marks/running" 2>/dev/null)" != $$ ] || rm -f "$marks/running"
}

interrupted() {
    trap '' INT TERM HUP
    [ -z "$child" ] || end_tree "$child"
    tidy
    printf '\n%s: stopped in the step %s; the same command goes on there\n' "$recipe" "$name" >&2
    exit 130
}

# watch LOG: its last line, again and again, on a terminal.
watch() {
    while sleep 2; do
        printf '\r\033[K    %.70s' "$(tail -c 400 "$1" | tr -d '\000-\011\013-\037' | tail -n 1)"
    done
}

run_step() {
    printf '[%s/%s] %s\n' "$number" "$all" "$title"
    log=$marks/$name.log began=$(date +%s) status=0
    # In the background, so that a signal is heard at once.
    (set -e && "step_$name") </dev/null >"$log" 2>&1 3<&- &
    child=$!
    if [ -t 1 ]; then watch "$log" & watcher=$!; fi
    wait "$child" || status=$?
    child=''
    if [ -n "$watcher" ]; then end_tree "$watcher" && watcher='' && printf '\r\033[K'; fi
    if [ $status = 0 ]; then
        printf '%s\n' "$mark" >"$marks/$name" || status=1
    fi
    [ $status != 0 ] ||
        { printf '[%s/%s] done in %s seconds\n' "$number" "$all" "$(($(date +%s) - began))" && return 0; }
    tail -n 15 "$log" | sed 's/^/    | /' >&2
    printf '%s: the step %s failed (status %s); its log is %s\n' "$recipe" "$name" "$status" "$log" >&2
    if [ "$(df -Pk "$folder" | awk 'END { print $4 }')" -lt 200000 ]; then
        printf '%s: the disk is full: less than 200 MB are left in %s\n' "$recipe" "$folder" >&2
    fi
    printf '%s: rmcp explain %s may know it; when it is cured, the same command goes on here\n' "$recipe" "$log" >&2
    tidy
    exit 1
}

run() {
    plan || { echo "$recipe: nothing was done (RECIPE_ANYWAY=1 tries all the same)" >&2 && exit 1; }
    mkdir -p "$marks"
    other=$(cat "$marks/running" 2>/dev/null) || other=''
    if [ -n "$other" ] && kill -0 "$other" 2>/dev/null; then
        echo "$recipe: it is running already, as process $other" >&2
        exit 1
    fi
    if [ -t 0 ] && [ -t 1 ] && [ ! -e "$marks/agreed" ] && [ -z "${RECIPE_YES-}" ]; then
        printf 'Begin? [y/N] '
        read -r answer || answer=''
        case $answer in [yY]*) ;; *) echo "nothing was done" && exit 1 ;; esac
    fi
    date >"$marks/agreed"
    name=begin
    trap interrupted INT TERM HUP
    echo $$ >"$marks/running"
    if [ -n "$needs_root" ] && [ "$(id -u)" != 0 ]; then
        echo "Some steps need root: sudo asks for your password now, and not again."
        sudo -v || exit 1
        (while sleep 60; do sudo -n -v 2>/dev/null || exit; done) &
        keeper=$!
    fi
    number=0 all=$(steps | wc -l)
    while read -r mark name _ _ title <&3; do
        number=$((number + 1))
        if is_done "$name" "$mark"; then
            printf '[%s/%s] done before: %s\n' "$number" "$all" "$title"
        else
            run_step
        fi
    done 3<<END
$(steps)
END
    tidy
    epilogue
}

case ${1-} in
--plan) plan ;;
'') run ;;
*) echo "usage: sh $recipe.sh [--plan]" >&2 && exit 2 ;;
esac
