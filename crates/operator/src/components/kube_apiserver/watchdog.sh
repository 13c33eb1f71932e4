#!/bin/sh
# Ends kube-apiserver 1.24 when it hangs while it shuts down. Argument: a token for its health checks.
token="$1"
address="https://127.0.0.1"

# Prints the HTTP status of a path.
status_of() {
  wget --spider --server-response --no-check-certificate -q -O - --header "Authorization: Bearer $token" \
    "$address/$1?timeout=10s" 2>&1 | awk '$1 ~ /^HTTP\// { code = $2 } END { print code }'
}

# Waits up to a minute for a process other than $1, and prints its number.
await_process() {
  tries=0
  while [ "$tries" -lt 12 ]; do
    found=$(pgrep kube-apiserver)
    if [ -n "$found" ] && [ "$found" != "$1" ]; then
      echo "$found"
      return 0
    fi
    tries=$((tries + 1))
    sleep 5
  done
  return 1
}

log() {
  echo "$(date): $*"
}

if ! process=$(await_process ""); then
  log "kube-apiserver does not run"
  exit 1
fi
log "watching kube-apiserver, process $process"
sleep 15

hanging=0
while true; do
  # It answers 429 while it shuts down, and also when it has too many requests: only then is it ready at the same time.
  if [ "$(status_of version)" = 429 ] && [ "$(status_of readyz)" = 500 ]; then
    hanging=$((hanging + 1))
    log "kube-apiserver shuts down, seen $hanging times"
  else
    hanging=0
  fi
  if [ "$hanging" -ge 5 ]; then
    process=$(pgrep kube-apiserver)
    if [ -n "$process" ]; then
      log "kube-apiserver hangs while it shuts down, ending process $process"
      kill -TERM "$process"
      if ! process=$(await_process "$process"); then
        log "kube-apiserver did not start again"
        exit 1
      fi
      log "kube-apiserver started again, process $process"
      hanging=0
      sleep 5
    fi
  fi
  sleep 10
done
