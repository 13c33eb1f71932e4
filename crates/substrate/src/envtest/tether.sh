# Runs a program until the pipe on standard input is closed, which the kernel does however its writer ends, SIGKILL
# included; then kills the program and removes the folder. Prints the program's exit status.
#   tether.sh FOLDER LOG PROGRAM [FLAG…]
# Only the writer handles signals: one that is meant for it must not end this shell before the program.
trap '' HUP INT TERM PIPE
folder=$1 log=$2
shift 2
exec 3<&0 </dev/null
(trap - HUP INT TERM PIPE; exec "$@") >"$log" 2>&1 3<&- &
program=$!
(cat <&3; kill -9 "$program") >/dev/null &
watch=$!
wait "$program"
echo "$?"
# The process id of a program that has ended may be reused soon.
kill -9 "$watch"
cat <&3 >/dev/null
# Every program of the folder has a tether; when the last one comes here, no program writes any more.
rm -rf "$folder"
