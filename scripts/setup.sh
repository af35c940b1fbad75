#!/usr/bin/env bash
# Makes .venv with PyTorch, the project and its extras, and finds or installs a browser. Repeatable: does only what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*"; }
fail() { say "set-up: $*" >&2; exit 1; }

python=${PYTHON:-python3}
command -v "$python" >/dev/null || fail "no $python found; install Python 3.11 or newer, or set PYTHON."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$("$python" --version) is too old; set PYTHON to 3.11 or newer."

make_venv() {
  "$python" -m venv .venv 2>/tmp/agent-world-venv.$$ && return
  rm -rf .venv
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "set-up: installing python3-venv"
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
    "$python" -m venv .venv
  else
    cat /tmp/agent-world-venv.$$ >&2
    fail "cannot make a virtual environment; install python3-venv."
  fi
}

stamp=.venv/.agent-world
wanted=$(cat pyproject.toml setup.py constraints.txt scripts/setup.sh | sha256sum | cut -c1-16)
if [ "$(cat $stamp 2>/dev/null || true)" != "$wanted" ]; then
  [ -x .venv/bin/pip ] || { say "set-up: making .venv"; make_venv; }
  # First alone, so that an index with a CPU build gives that one, and nothing later pulls in another.
  say "set-up: PyTorch"
  .venv/bin/pip install -qq --disable-pip-version-check "torch==2.13.0"
  say "set-up: the project and its extras (a few minutes the first time)"
  .venv/bin/pip install -qq --disable-pip-version-check -c constraints.txt -e ".[train,browser,search,e2b,ray,demo,dev]"
  echo "$wanted" > $stamp
fi

.venv/bin/python -m agent_world.tools.web.find_browser >/dev/null 2>&1 || {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "set-up: no browser found; installing Chromium with apt-get"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
  else
    say "set-up: no browser found; installing Playwright's Chromium"
    .venv/bin/playwright install chromium
  fi
}
say "set-up: done, browser $(.venv/bin/python -m agent_world.tools.web.find_browser)"
