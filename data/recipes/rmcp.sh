# shellcheck shell=sh disable=SC2154 # the variables at the top
#: step rmcp 1 1 RMCP in that environment
step_rmcp() {
    if [ -n "$wheel" ]; then
        "$folder/venv/bin/pip" install --no-index --force-reinstall --no-deps "$wheel"
    elif [ -n "$package" ]; then
        # Beside the command, wherever it lies: one line that Python reads when it starts.
        site=$("$folder/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
        printf '%s\n' "$package" >"$site/rmcp-path.pth"
    else
        echo "RMCP's wheel is missing: get it (docs/install.md), put it here or into ~/Downloads, or name it:"
        echo "    rmcp recipe $recipe --wheel FILE --run"
        return 1
    fi
    "$folder/venv/bin/python" -c 'import rmcp; print("rmcp", rmcp.__file__)'
}
