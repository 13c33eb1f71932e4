# Runs a program until the pipe on standard input is closed, which the kernel does however its writer ends, SIGKILL
# included; then kills the program and removes the folder. The program's exit status is told on standard output.
#   tether.sh FOLDER LOG PROGRAM [FLAG…]
# Signals are left to the writer: one that is meant for it must not end the watch before the program.
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
# The number of a program that is gone may be another's soon.
kill -9 "$watch"
cat <&3 >/dev/null
# Every program of the folder has a tether; whichever is the last to come here finds nobody writing.
rm -rf "$folder"
