# Runs dockerd in new namespaces: start.sh ADDRESS/PREFIX FLAGS…. The caller adds the interface `uplink`, which reaches the
# machine only, because there is no default route.
set -eu
address=$1
shift
ip link set lo up
tries=0
until ip link show uplink > /dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || { echo "no uplink after 10 s" >&2; exit 1; }
    sleep 0.05
done
ip address add "$address" dev uplink
ip link set uplink up
exec dockerd "$@"
