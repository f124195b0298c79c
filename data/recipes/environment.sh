# shellcheck shell=sh disable=SC2154 # the variables at the top
#: step packages 3 1 Python's environments, from your distribution
step_packages() {
    if python3 -c 'import ensurepip, venv' 2>/dev/null; then echo "they are there" && return; fi
    case $manager in
    apt) as_root apt-get install -y python3-venv ;;
    pacman) as_root pacman -S --needed --noconfirm python ;;
    dnf) as_root dnf install -y python3 ;;
    zypper) as_root zypper --non-interactive install python3 ;;
    *) echo "install Python 3 with its modules venv and ensurepip" && return 1 ;;
    esac
}

#: if locked
#: step access 1 0 Access to the GPU: your user joins the group of /dev/kfd
step_access() {
    as_root usermod -aG "$(stat -c %G /dev/kfd),$(stat -c %G /dev/dri/renderD128)" "$(id -un)"
    echo "it holds after the next login"
}
#: end

#: step environment 1 1 A Python environment in the folder
step_environment() {
    python3 -m venv ${RECIPE_SYSTEM_TORCH:+--system-site-packages} "$folder/venv"
    [ -n "${RECIPE_SYSTEM_TORCH-}" ] || "$folder/venv/bin/pip" install --upgrade pip
}
