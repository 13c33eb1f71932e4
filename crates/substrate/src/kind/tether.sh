# Creates a kind cluster and deletes it, its network and the folder once the pipe on standard input is closed, which the
# kernel does however its writer ends, SIGKILL included; a file `keep` in the folder lets it all stay.
#   tether.sh FOLDER KIND DOCKER NAME NETWORK FLAG…
# The exit status of the creation is told on standard output; what is said is in FOLDER/create.log.
# Signals are left to the writer: one that is meant for it must not end the watch before the cluster.
trap '' HUP INT TERM PIPE
folder=$1 kind=$2 docker=$3 name=$4 network=$5
shift 5
log=$folder/create.log
exec 3<&0 </dev/null
(trap - HUP INT TERM PIPE; KIND_EXPERIMENTAL_DOCKER_NETWORK=$network exec "$kind" create cluster --name "$name" "$@") >"$log" 2>&1 3<&- &
creating=$!
# This process leads a group, in which only the creation and what it started hear a signal.
(cat <&3; kill -TERM 0) >/dev/null &
watch=$!
wait "$creating"
status=$?
echo "$status"
# The number of a process that is gone may be another's soon.
kill -9 "$watch"
# Whoever watched may read on, so that a word on the pipe could be lost to it; its end is seen by all.
cat <&3 >/dev/null
[ -e "$folder/keep" ] && exit 0
"$kind" delete cluster --name "$name" >>"$log" 2>&1
if [ "$status" != 0 ]; then
    # The engine may be making a node for whoever was ended, and shows it when it is made.
    for again in 1 2 3 4 5; do
        sleep 1
        "$kind" delete cluster --name "$name" >>"$log" 2>&1
    done
fi
"$docker" network rm "$network" >>"$log" 2>&1
rm -rf "$folder"
