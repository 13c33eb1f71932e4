//! Cells that are computed from several fields.

mod nodes;
mod pods;

use jiff::Timestamp;
use serde_json::Value;

use super::age;
use super::format::{NONE, count, joined, labels, list, or_none, selector, text, text_of, text_or};

/// Computes a cell from an object and the current time.
pub(super) type Cell = fn(&Value, Timestamp) -> Value;

const CELLS: &[(&str, Cell)] = &[
    ("pod-ready", |pod, _| pods::ready(pod).into()),
    ("pod-status", |pod, _| pods::status(pod).into()),
    ("pod-restarts", |pod, _| pods::restarts(pod).into()),
    ("readiness-gates", |pod, _| pods::readiness_gates(pod).into()),
    ("service-external", |service, _| service_external(service).into()),
    ("service-ports", |service, _| service_ports(service).into()),
    ("selector-map", |object, _| or_none(labels(&object["spec"]["selector"])).into()),
    ("selector", |object, _| selector(&object["spec"]["selector"]).into()),
    ("pod-selector", |object, _| selector(&object["spec"]["podSelector"]).into()),
    ("node-selector", |set, _| or_none(labels(&set["spec"]["template"]["spec"]["nodeSelector"])).into()),
    ("pod-labels", |object, _| or_none(labels(&object["template"]["metadata"]["labels"])).into()),
    ("no-selector", |_, _| NONE.into()),
    ("data-count", |object, _| (count(&object["data"]) + count(&object["binaryData"])).into()),
    ("webhook-count", |object, _| count(&object["webhooks"]).into()),
    ("driver-count", |object, _| count(&object["spec"]["drivers"]).into()),
    ("node-status", |node, _| nodes::status(node).into()),
    ("node-roles", |node, _| nodes::roles(node).into()),
    ("node-kernel", |node, _| nodes::kernel(node).into()),
    ("quota-requests", |quota, _| quota_used(quota, false).into()),
    ("quota-limits", |quota, _| quota_used(quota, true).into()),
    ("endpoints", |object, _| endpoints(object).into()),
    ("access-modes", |object, _| access_modes(&object["spec"]["accessModes"]).into()),
    ("claim-capacity", |claim, _| {
        if is_bound(claim) { text_or(&claim["status"]["capacity"]["storage"], "0").into() } else { "".into() }
    }),
    ("bound-modes", |claim, _| {
        if is_bound(claim) { access_modes(&claim["status"]["accessModes"]).into() } else { "".into() }
    }),
    ("volume-status", |object, _| volume_status(object).into()),
    ("volume-claim", |volume, _| joined(&volume["spec"]["claimRef"], "namespace", "name").into()),
    ("container-names", |object, _| containers(object, "name").into()),
    ("container-images", |object, _| containers(object, "image").into()),
    ("replicas-ready", |object, _| replicas_ready(object).into()),
    ("controller", |object, _| controller(object).into()),
    ("job-status", |job, _| job_status(job).into()),
    ("job-completions", |job, _| job_completions(job).into()),
    ("job-duration", job_duration),
    ("cron-suspend", |cron, _| (if cron["spec"]["suspend"] == true { "True" } else { "False" }).into()),
    ("cron-active", |cron, _| count(&cron["status"]["active"]).into()),
    ("cron-last", |cron, now| {
        or_none(text_of(&age::since(cron.pointer("/status/lastScheduleTime"), now))).into()
    }),
    ("scale-target", |object, _| joined(&object["spec"]["scaleTargetRef"], "kind", "name").into()),
    ("scale-metrics", |object, _| scale_metrics(object).into()),
    ("text-of-minimum", |object, _| text_or(&object["spec"]["minReplicas"], "<unset>").into()),
    ("budget-minimum", |object, _| text_or(&object["spec"]["minAvailable"], "N/A").into()),
    ("budget-maximum", |object, _| text_or(&object["spec"]["maxUnavailable"], "N/A").into()),
    ("ingress-class", |object, _| ingress_class(object).into()),
    ("ingress-hosts", |object, _| ingress_hosts(object).into()),
    ("ingress-address", |object, _| addresses(object).into()),
    ("ingress-ports", |object, _| (if count(&object["spec"]["tls"]) > 0 { "80, 443" } else { "80" }).into()),
    ("class-parameters", |object, _| class_parameters(object).into()),
    ("class-name", |class, _| class_name(class).into()),
    ("bound-role", |object, _| joined(&object["roleRef"], "kind", "name").into()),
    ("bound-users", |object, _| subjects(object, "User").into()),
    ("bound-groups", |object, _| subjects(object, "Group").into()),
    ("bound-accounts", |object, _| subjects(object, "ServiceAccount").into()),
    ("requested-duration", |object, _| requested_duration(object).into()),
    ("request-condition", |object, _| request_condition(object).into()),
    ("backend", |service, _| {
        let named = joined(&service["spec"]["service"], "namespace", "name");
        (if named.is_empty() { "Local".to_owned() } else { named }).into()
    }),
    ("backend-available", |service, _| backend_available(service).into()),
    ("slice-ports", |object, _| slice_ports(object).into()),
    ("slice-endpoints", |object, _| slice_endpoints(object).into()),
    ("event-last", |event, now| {
        event_time(event, &["/series/lastObservedTime", "/lastTimestamp", "/eventTime"], now)
    }),
    ("event-first", |event, now| event_time(event, &["/firstTimestamp", "/eventTime"], now)),
    ("event-object", |event, _| event_object(event).into()),
    ("event-source", |event, _| event_source(event).into()),
    ("event-message", |event, _| text(&event["message"]).trim().into()),
    ("event-count", |event, _| {
        event.pointer("/series/count").or(event.get("count")).cloned().unwrap_or_else(|| 1.into())
    }),
];

/// Looks a cell up by name.
pub(super) fn find(name: &str) -> Option<Cell> {
    CELLS.iter().find(|(known, _)| *known == name).map(|(_, cell)| *cell)
}

fn service_external(service: &Value) -> String {
    let named: Vec<String> =
        list(&service["spec"]["externalIPs"]).iter().map(|ip| text(ip).to_owned()).collect();
    match text(&service["spec"]["type"]) {
        "ExternalName" => text(&service["spec"]["externalName"]).to_owned(),
        "LoadBalancer" => {
            let given = addresses(service);
            let all: Vec<String> = std::iter::once(given).filter(|ip| !ip.is_empty()).chain(named).collect();
            if all.is_empty() { "<pending>".to_owned() } else { all.join(",") }
        }
        _ => or_none(named.join(",")),
    }
}

fn service_ports(service: &Value) -> String {
    let ports = list(&service["spec"]["ports"]).iter().map(|port| {
        let node = port["nodePort"].as_i64().filter(|number| *number > 0);
        let node = node.map(|number| format!(":{number}")).unwrap_or_default();
        format!("{}{node}/{}", port["port"], text(&port["protocol"]))
    });
    or_none(ports.collect::<Vec<_>>().join(","))
}

/// The used and hard amounts of a quota: limits, or everything else.
fn quota_used(quota: &Value, limits: bool) -> String {
    let (hard, used) = (&quota["status"]["hard"], &quota["status"]["used"]);
    let named = hard.as_object().into_iter().flatten();
    let wanted = named.filter(|(name, _)| name.starts_with("limits.") == limits);
    let formatted =
        wanted.map(|(name, most)| format!("{name}: {}/{}", text_or(&used[name.as_str()], "0"), text(most)));
    formatted.collect::<Vec<_>>().join(", ")
}

fn endpoints(object: &Value) -> String {
    let mut all = Vec::new();
    for subset in list(&object["subsets"]) {
        for port in list(&subset["ports"]) {
            let ips = list(&subset["addresses"]).iter().map(|address| text(&address["ip"]));
            all.extend(ips.map(|ip| format!("{ip}:{}", port["port"])));
        }
    }
    let more = all.len().saturating_sub(3);
    all.truncate(3);
    let formatted = or_none(all.join(","));
    if more > 0 { format!("{formatted} + {more} more...") } else { formatted }
}

/// Whether a claim names its volume.
fn is_bound(claim: &Value) -> bool {
    !text(&claim["spec"]["volumeName"]).is_empty()
}

fn access_modes(modes: &Value) -> String {
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let has = |mode: &str| list(modes).iter().any(|known| known == mode);
    let formatted = short.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short);
    formatted.collect::<Vec<_>>().join(",")
}

fn volume_status(object: &Value) -> String {
    let is_terminating = object["metadata"]["deletionTimestamp"].is_string();
    if is_terminating { "Terminating".to_owned() } else { text(&object["status"]["phase"]).to_owned() }
}

fn containers(object: &Value, field: &str) -> String {
    let paths = ["/spec/template/spec", "/template/spec", "/spec/jobTemplate/spec/template/spec"];
    let spec = paths.iter().find_map(|path| object.pointer(path));
    let containers = spec.map(|spec| list(&spec["containers"])).unwrap_or_default();
    containers.iter().map(|container| text(&container[field])).collect::<Vec<_>>().join(",")
}

fn replicas_ready(object: &Value) -> String {
    let ready = object["status"]["readyReplicas"].as_i64().unwrap_or_default();
    format!("{ready}/{}", object["spec"]["replicas"].as_i64().unwrap_or_default())
}

fn controller(object: &Value) -> String {
    let owners = list(&object["metadata"]["ownerReferences"]);
    let Some(owner) = owners.iter().find(|owner| owner["controller"] == true) else { return NONE.to_owned() };
    let group = text(&owner["apiVersion"]).split_once('/').map(|(group, _)| format!(".{group}"));
    format!("{}{}/{}", text(&owner["kind"]).to_lowercase(), group.unwrap_or_default(), text(&owner["name"]))
}

fn job_status(job: &Value) -> String {
    let conditions = list(&job["status"]["conditions"]);
    let has = |kind: &str| conditions.iter().any(|known| known["type"] == kind && known["status"] == "True");
    let named = [("Complete", "Complete"), ("Failed", "Failed")];
    let found = named.iter().find(|(kind, _)| has(kind)).map(|(_, status)| *status);
    let rest = || match () {
        () if job["metadata"]["deletionTimestamp"].is_string() => "Terminating",
        () if has("Suspended") => "Suspended",
        () if has("FailureTarget") => "FailureTarget",
        () if has("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    };
    found.unwrap_or_else(rest).to_owned()
}

fn job_completions(job: &Value) -> String {
    let done = job["status"]["succeeded"].as_i64().unwrap_or_default();
    match (job["spec"]["completions"].as_i64(), job["spec"]["parallelism"].as_i64().unwrap_or_default()) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, parallel @ 2..) => format!("{done}/1 of {parallel}"),
        (None, _) => format!("{done}/1"),
    }
}

fn job_duration(job: &Value, now: Timestamp) -> Value {
    let time = |field: &str| job["status"][field].as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let Some(started) = time("startTime") else { return "".into() };
    age::human(time("completionTime").unwrap_or(now).duration_since(started)).into()
}

fn scale_metrics(object: &Value) -> String {
    let formatted = list(&object["spec"]["metrics"]).iter().enumerate().map(|(index, metric)| {
        let kind = text(&metric["type"]);
        let field = format!(
            "{}{}",
            kind.get(..1).unwrap_or_default().to_lowercase(),
            kind.get(1..).unwrap_or_default()
        );
        let target = &metric[field.as_str()]["target"];
        let current = &object["status"]["currentMetrics"][index][field.as_str()]["current"];
        let name =
            metric[field.as_str()]["name"].as_str().map(|name| format!("{name}: ")).unwrap_or_default();
        if let Some(wanted) = target["averageUtilization"].as_i64() {
            let now = current["averageUtilization"].as_i64().map(|share| format!("{share}%"));
            return format!("{name}{}/{wanted}%", now.unwrap_or_else(|| "<unknown>".to_owned()));
        }
        let of = |values: &Value| {
            let value = ["averageValue", "value"].iter().find_map(|field| values[*field].as_str());
            value.unwrap_or("<unknown>").to_owned()
        };
        format!("{name}{}/{}", of(current), of(target))
    });
    let all: Vec<String> = formatted.collect();
    match all.as_slice() {
        [] => NONE.to_owned(),
        [first, second, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second} + {} more...", rest.len())
        }
        all => all.join(", "),
    }
}

fn ingress_class(object: &Value) -> String {
    let annotated = &object["metadata"]["annotations"]["kubernetes.io/ingress.class"];
    or_none(match text(&object["spec"]["ingressClassName"]) {
        "" => text(annotated).to_owned(),
        class => class.to_owned(),
    })
}

fn ingress_hosts(object: &Value) -> String {
    let mut hosts: Vec<&str> = Vec::new();
    let named = list(&object["spec"]["rules"]).iter().map(|rule| text(&rule["host"]));
    hosts.extend(named.filter(|host| !host.is_empty()));
    let more = hosts.len().saturating_sub(3);
    hosts.truncate(3);
    let formatted = if hosts.is_empty() { "*".to_owned() } else { hosts.join(",") };
    if more > 0 { format!("{formatted} + {more} more...") } else { formatted }
}

/// The addresses of a load balancer.
fn addresses(object: &Value) -> String {
    let given = list(&object["status"]["loadBalancer"]["ingress"]).iter().map(|point| {
        let ip = text(&point["ip"]);
        if ip.is_empty() { text(&point["hostname"]) } else { ip }
    });
    given.collect::<Vec<_>>().join(",")
}

fn class_parameters(object: &Value) -> String {
    let parameters = &object["spec"]["parameters"];
    if parameters.is_null() {
        return NONE.to_owned();
    }
    let group = parameters["apiGroup"].as_str().map(|group| format!(".{group}")).unwrap_or_default();
    format!("{}{group}/{}", text(&parameters["kind"]), text(&parameters["name"]))
}

fn class_name(class: &Value) -> String {
    let annotated = &class["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"];
    let name = text(&class["metadata"]["name"]);
    if annotated == "true" { format!("{name} (default)") } else { name.to_owned() }
}

fn subjects(object: &Value, kind: &str) -> String {
    let of_kind = list(&object["subjects"]).iter().filter(|subject| subject["kind"] == kind);
    let name = |subject: &Value| match kind {
        "ServiceAccount" => format!("{}/{}", text(&subject["namespace"]), text(&subject["name"])),
        _ => text(&subject["name"]).to_owned(),
    };
    of_kind.map(name).collect::<Vec<_>>().join(", ")
}

fn requested_duration(request: &Value) -> String {
    let seconds = request["spec"]["expirationSeconds"].as_i64();
    seconds.map_or_else(|| NONE.to_owned(), |seconds| age::human(jiff::SignedDuration::from_secs(seconds)))
}

fn request_condition(object: &Value) -> String {
    let conditions = list(&object["status"]["conditions"]);
    let has = |kind: &str| conditions.iter().any(|condition| condition["type"] == kind);
    let mut formatted = Vec::new();
    formatted.extend(has("Approved").then_some("Approved"));
    formatted.extend(has("Denied").then_some("Denied"));
    formatted.extend(has("Failed").then_some("Failed"));
    if formatted.is_empty() {
        formatted.push("Pending");
    }
    formatted.extend(object["status"]["certificate"].is_string().then_some("Issued"));
    formatted.join(",")
}

fn backend_available(service: &Value) -> String {
    let conditions = list(&service["status"]["conditions"]);
    match conditions.iter().find(|condition| condition["type"] == "Available") {
        None => "Unknown".to_owned(),
        Some(condition) if condition["status"] == "True" => "True".to_owned(),
        Some(condition) => format!("{} ({})", text(&condition["status"]), text(&condition["reason"])),
    }
}

fn slice_ports(object: &Value) -> String {
    let ports: Vec<String> = list(&object["ports"]).iter().map(|port| port["port"].to_string()).collect();
    shortened(&ports)
}

fn slice_endpoints(object: &Value) -> String {
    let all = list(&object["endpoints"]).iter().flat_map(|endpoint| list(&endpoint["addresses"]));
    shortened(&all.map(|address| text(address).to_owned()).collect::<Vec<_>>())
}

fn shortened(all: &[String]) -> String {
    match all {
        [] => "<unset>".to_owned(),
        [first @ .., _] if first.len() >= 3 => {
            format!("{} + {} more...", all[..3].join(","), all.len() - 3)
        }
        all => all.join(","),
    }
}

fn event_time(event: &Value, paths: &[&str], now: Timestamp) -> Value {
    let found = paths.iter().find_map(|path| event.pointer(path).filter(|time| time.is_string()));
    age::since(found, now)
}

fn event_object(event: &Value) -> String {
    let object = &event["involvedObject"];
    format!("{}/{}", text(&object["kind"]).to_lowercase(), text(&object["name"]))
}

fn event_source(event: &Value) -> String {
    let source = &event["source"];
    let named = if source["component"].is_string() { source } else { event };
    let component = text(&named["component"]);
    let component = if component.is_empty() { text(&event["reportingComponent"]) } else { component };
    match source["host"].as_str() {
        Some(host) => format!("{component}, {host}"),
        None => component.to_owned(),
    }
}
