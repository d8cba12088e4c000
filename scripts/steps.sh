# shellcheck shell=bash
# Plans and runs the steps of a ./dev command. All steps are planned first, so that each can print
# "[2/5]", and then run one after another, each with a log in build/logs.

titles=() actions=() hints=() child=''

# plan TITLE ACTION HINT: ACTION is a function or command without arguments; HINT says what to do
# when it fails.
plan() {
  titles+=("$1") actions+=("$2") hints+=("$3")
}

interrupted() {
  trap - INT TERM
  [[ -z $child ]] || { kill -TERM -- "-$child" && wait "$child"; } 2>/dev/null || true
  printf '\ninterrupted. Nothing half-done is kept as done: the same command goes on from here.\n' >&2
  exit 130
}
trap interrupted INT TERM

# Prints the last line of $log, without the parts that make a compiler's line long.
last_line() {
  tail -c 400 "$log" | tr '\r' '\n' | tr -cd '\n[:print:]' |
    awk 'NF { l = $0 } END { sub(/Building CXX object /, "", l); sub(/CMakeFiles\/[^\/]*\.dir\//, "", l);
                            sub(/\.cc\.o$/, ".cc", l); print substr(l, 1, 100) }'
}

# Shows that a step is running: on a terminal the seconds and the log's last line, updated in place;
# in a file (CI) a line every half minute.
watch_step() {
  local log=$1 begin=$SECONDS last='' told=0 width elapsed
  while kill -0 "$child" 2>/dev/null; do
    elapsed=$((SECONDS - begin))
    if [[ -t 1 ]]; then
      width=$(($(tput cols 2>/dev/null || echo 80) - 16))
      last=$(last_line)
      printf '\r\033[K      %d s  %s' "$elapsed" "${last:0:width}"
      sleep 0.2
    elif ((elapsed >= told + 30)); then
      told=$elapsed
      printf '      %d s  %s\n' "$elapsed" "$(last_line)"
    else
      sleep 0.2
    fi
  done
}

# Sets `cpu_seconds` to the CPU time of all steps so far.
count_cpu() {
  local user system
  times >"$logs/times"
  { read -r && read -r user system; } <"$logs/times"
  cpu_seconds=$(awk -F'[ms]' -v a="$user" -v b="$system" \
    'BEGIN { split(a, u, /[ms]/); split(b, s, /[ms]/); printf "%d", 60 * (u[1] + s[1]) + u[2] + s[2] }')
}

run_plan() {
  local i n=${#titles[@]} log prefix begin cpu_seconds before
  ((n == 0)) || mkdir -p "$logs"
  for ((i = 0; i < n; i++)); do
    prefix="[$((i + 1))/$n] ${titles[i]}"
    log=$logs/${actions[i]}.log
    begin=$SECONDS
    count_cpu && before=$cpu_seconds
    printf '%s …\n' "$prefix"
    # A separate process group, so that Ctrl-C ends the whole step, including compilers.
    set -m
    "${actions[i]}" >"$log" 2>&1 </dev/null &
    child=$!
    set +m
    watch_step "$log"
    if ! wait "$child"; then
      child=''
      [[ ! -t 1 ]] || printf '\r\033[K'
      printf '\n%s: FAILED after %d s. The last lines of %s:\n\n' "$prefix" $((SECONDS - begin)) "$log" >&2
      tail -n 40 "$log" | sed 's/^/    /' >&2
      printf '\nwhat to do: %s\n' "${hints[i]}" >&2
      exit 1
    fi
    child=''
    [[ ! -t 1 ]] || printf '\r\033[K\033[A%s' "$prefix"
    count_cpu
    printf '  done, %d s (%d s of processors)\n' $((SECONDS - begin)) $((cpu_seconds - before))
    # Print the summary line of a test runner.
    { grep -aE '^(=+ )?[0-9]+ (passed|failed)|^[0-9]+ of [0-9]+ clean|% tests passed|^ +(Passed|Failed): +[0-9]+ ' "$log" || true; } | tail -n 1
  done
  titles=() actions=() hints=()
}
