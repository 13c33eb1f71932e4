#!/usr/bin/env bash
# Plays session/commands with kubectl on the cluster of $KUBECONFIG, which is fresh, and prints what each command said, with
# what is a server's own affair taken out. Fails where a command succeeds that must fail, or fails that must succeed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$(dirname "$0")"/session/. "$folder"
cp "$KUBECONFIG" "$folder/kubeconfig"
cd "$folder"
export KUBECONFIG="$folder/kubeconfig" KUBECACHEDIR="$folder/cache" KUBERC=off HOME="$folder" TZ=UTC LC_ALL=C.UTF-8
kubectl config set-context --current --namespace=session > said

wrong=0
while IFS= read -r line <&3; do
    case $line in '' | '#'*) continue ;; esac
    code=0
    timeout 60 bash -o pipefail -c "${line#! }" > said 2>&1 < /dev/null || code=$?
    printf '$ %s\n' "$line"
    sed -E -f normal.sed said
    case $line:$code in '! '*:0 | '! '*:124) wrong=1 ;; '! '*:* | *:0) continue ;; *) wrong=1 ;; esac
    echo "WRONG: exit code $code"
done 3< commands
exit "$wrong"
