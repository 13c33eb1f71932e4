# What is a server's own affair: uids, versions, times, ages, addresses, ports, made-up names, tokens, and the columns they widen.
# A watch that kubectl ends itself has ended unexpectedly for one of its threads, now and then.
/ reflector[.]go:.*very short watch/d
# A service that is made while kube-apiserver compares its addresses with what it holds, every three minutes, is "repaired".
/ ClusterIPNotAllocated .* is not allocated; repairing/d
s/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/UID/g
s/(resourceVersion"?: ?"?|Resource Version: +)[0-9]+/\1VERSION/g
s/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z| [+]0000)/TIME/g
s/[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} [+]0000/TIME/g
s/eyJ[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]+/TOKEN/g
s/X509SHA256=[0-9a-f]+/X509SHA256=DIGEST/g
s#https://127[.]0[.]0[.]1:[0-9]+#https://SERVER#g
s#/tmp/(LIVE|MERGED)-[0-9]+#/tmp/\1#g
s/\b10[.]0[.]0[.][0-9]+\b/ADDRESS/g
s/\b3[0-2][0-9]{3}\b/PORT/g
# Ages stand alone; what a probe waits (`delay=0s`) and a toleration lasts (`for 300s`) is what the server fills in.
s/\bfor ([0-9]+)s\b/for \1 s/g
s/(^|[ (])(([0-9]+m)?[0-9]+s|[0-9]m|[0-9]+d)\b/\1AGE/g
s/([^ ]) {2,}/\1  /g
s/ +$//
