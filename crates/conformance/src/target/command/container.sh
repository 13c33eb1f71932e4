# Creates a container, gives it the files of a folder, and is it until it ends.
#   container.sh DOCKER NAME FOLDER INSIDE FLAG…
docker=$1 name=$2 folder=$3 inside=$4
shift 4
# An image has a user of its own, who reads what others may read.
chmod -R u=rwX,go=rX "$folder"
said=$("$docker" create --name "$name" "$@" 2>&1) &&
    said=$("$docker" cp "$folder/." "$name:$inside" 2>&1) || { echo "$said" >&2; exit 1; }
exec "$docker" start --attach "$name"
