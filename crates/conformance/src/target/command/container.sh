# Is a container from its creation until it ends, or until standard input is closed, which the kernel does however its writer
# ends, SIGKILL included; nothing is left of it then.
#   container.sh SCRATCH DOCKER NAME INSIDE FLAG…
# SCRATCH/files is what the container has at INSIDE; SCRATCH goes with the writer. Why there was no container is in
# SCRATCH/unmade.
# Signals are left to the writer: what the engine has begun to make must be there before it can be taken away.
trap '' HUP INT TERM PIPE
scratch=$1 docker=$2 name=$3 inside=$4
shift 4
exec 3<&0 </dev/null
ends() {
    "$docker" rm --force --volumes "$name" >/dev/null 2>&1
    exit "$1"
}
unmade() {
    echo "$1" >"$scratch/unmade"
    ends 125
}
# An image has a user of its own, who reads what others may read.
chmod -R u=rwX,go=rX "$scratch/files"
said=$("$docker" create --name "$name" "$@" 2>&1) || unmade "$said"
said=$("$docker" cp "$scratch/files/." "$name:$inside" 2>&1) || unmade "$said"
"$docker" start --attach "$name" &
client=$!
# One that is about to start does not hear that it is to stop.
(
    cat <&3
    while kill -0 "$client"; do
        "$docker" stop -t 2 "$name"
        sleep 0.2
    done
    rm -rf "$scratch"
) >/dev/null 2>&1 &
wait "$client"
status=$?
never=$("$docker" inspect --format '{{if eq .State.Status "created"}}never {{.State.Error}}{{end}}' "$name" 2>/dev/null)
[ -z "$never" ] || unmade "${never#never }"
ends "$status"
