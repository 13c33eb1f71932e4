# Creates a kind cluster and deletes it, its network and the folder once the pipe on standard input is closed, which the
# kernel does however its writer ends, SIGKILL included; a file `keep` in the folder keeps all of them.
#   tether.sh FOLDER KIND DOCKER NAME NETWORK FLAG…
# Prints the exit status of the creation; the output is in FOLDER/create.log.
# Only the writer handles signals: one that is meant for it must not end this shell before the cluster.
trap '' HUP INT TERM PIPE
folder=$1 kind=$2 docker=$3 name=$4 network=$5
shift 5
log=$folder/create.log
exec 3<&0 </dev/null
(trap - HUP INT TERM PIPE; KIND_EXPERIMENTAL_DOCKER_NETWORK=$network exec "$kind" create cluster --name "$name" "$@") >"$log" 2>&1 3<&- &
creating=$!
# This process leads a process group, in which only the creation and its children react to signals.
(cat <&3; kill -TERM 0) >/dev/null &
watch=$!
wait "$creating"
status=$?
echo "$status"
# The process id of a process that has ended may be reused soon.
kill -9 "$watch"
# The watching subshell may still read from the pipe, so data could be lost to it; the end of the pipe reaches all readers.
cat <&3 >/dev/null
[ -e "$folder/keep" ] && exit 0
"$kind" delete cluster --name "$name" >>"$log" 2>&1
if [ "$status" != 0 ]; then
    # The engine may still create a node for the killed creation, and lists it only afterwards.
    for again in 1 2 3 4 5; do
        sleep 1
        "$kind" delete cluster --name "$name" >>"$log" 2>&1
    done
fi
"$docker" network rm "$network" >>"$log" 2>&1
rm -rf "$folder"
