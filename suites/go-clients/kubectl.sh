#!/usr/bin/env bash
# kubectl with its default content types against the cluster of $KUBECONFIG: what it creates itself it sends as protobuf,
# what it reads from files as JSON. Every command must succeed.
set -euo pipefail
namespace="kubectl-$$"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

in_all() {
    kubectl --request-timeout=20s "$@" > "$folder/said" 2>&1 || {
        echo "kubectl $*"
        cat "$folder/said"
        exit 1
    }
}
in_one() { in_all --namespace "$namespace" "$@"; }

in_all create namespace "$namespace"
kubectl --v=8 --namespace "$namespace" create configmap sent --from-literal=a=b > /dev/null 2> "$folder/log"
grep -q 'Content-Type: application/vnd.kubernetes.protobuf' "$folder/log" || {
    echo "kubectl sends no protobuf"
    exit 1
}
printf '\x00\xff' > "$folder/bytes"
in_one create configmap config --from-literal=a=b --from-file="$folder/bytes"
in_one create secret generic secret --from-literal=a=b --from-file="$folder/bytes"
in_one create serviceaccount account
in_one create token account --duration=20m --audience=me
in_one create role reader --verb=get,list --resource=pods,deployments.apps
in_one create rolebinding reader --role=reader --serviceaccount="$namespace:account"
in_all create clusterrole "$namespace" --verb=get --non-resource-url=/healthz
in_all create clusterrolebinding "$namespace" --clusterrole="$namespace" --user=jane
in_one create deployment web --image=web:1 --replicas=0 --port=8080
in_one create service clusterip web --tcp=80:8080
in_one create service nodeport node --tcp=80:http
in_one create job job --image=job:1
in_one create cronjob cron --image=job:1 --schedule='*/5 * * * *'
in_one create job by-hand --from=cronjob/cron
in_one create ingress web --rule='example.com/*=web:80'
in_one create poddisruptionbudget web --selector=app=web --min-available=50%
in_one create quota quota --hard=pods=5,requests.cpu=1500m
in_all create priorityclass "$namespace" --value=100 --description=class
in_one run pod --image=web:1 --labels=app=web --env=A=b
in_one get deployment web --output=yaml
sed -E "/^  (resourceVersion|uid|creationTimestamp):/d" "$folder/said" > "$folder/web.yaml"
in_one apply --filename "$folder/web.yaml"
in_one apply --server-side --force-conflicts --filename "$folder/web.yaml"
in_one replace --filename - < <(kubectl --namespace "$namespace" get deployment web --output=json)
in_one diff --filename "$folder/web.yaml"
in_one scale deployment web --replicas=2
in_one set image deployment/web web=web:2
in_one set env deployment/web A=b
in_one set resources deployment/web --limits=cpu=200m,memory=64Mi
in_one label deployment web tier=front
in_one annotate deployment web note=é
in_one patch deployment web --patch '{"spec":{"paused":true}}'
in_one rollout resume deployment/web
in_one rollout restart deployment/web
in_one expose deployment web --port=80 --name=exposed
in_one autoscale deployment web --min=1 --max=3 --cpu=80%
in_one get deployment web --output='jsonpath={.spec.template.spec.containers[0].image}'
[ "$(cat "$folder/said")" = web:2 ] || {
    cat "$folder/said"
    exit 1
}
in_one get configmap config --output='jsonpath={.binaryData.bytes}'
[ "$(cat "$folder/said")" = AP8= ] || {
    cat "$folder/said"
    exit 1
}
in_one delete pod pod --grace-period=0 --force
in_one delete deployment web --cascade=background --wait=false
in_one delete configmap --all
in_all delete clusterrole,clusterrolebinding,priorityclass "$namespace"
in_all delete namespace "$namespace" --wait=false
echo "kubectl: every command succeeded"
