//! A target inside the cluster of the API server: it is led to through its Service, and its own count tells what it was asked.

use serde_json::Value;
use substrate::cluster::{Cluster, ClusterError, Reply};
use tokio::sync::RwLock;
use tokio::time::Instant;
use webhook::registration::{ClientConfig, ServiceReference, WebhookConfiguration};

use super::case::Ask;
use super::recorder::Call;
use super::stage::{PATIENCE, PAUSE};
use super::{Ground, probe, send};
use crate::exchange::{self, Subject};
use crate::place;
use crate::plan::Looked;
use crate::route::{self, Routing};
use crate::run::prepare;
use crate::target::{Running, Service};
use webhook::review::ReviewVersion;

/// How often a request is sent whose count is not what is expected.
const COUNTS: usize = 4;
/// kube-apiserver's words for a webhook that answers 404, as a target does on the path of probes.
const NOT_SERVED: &str = "the server could not find the requested resource";

/// What was sent, and who was asked about it.
pub(super) struct Sent {
    pub(super) reply: Reply,
    pub(super) called: bool,
    pub(super) calls: Vec<Call>,
}

/// Whether an API server heeds a configuration.
#[derive(Debug, PartialEq, Eq)]
enum Heed {
    /// It asks nobody.
    No,
    /// It asks the target.
    Yes,
    /// It asks, and the target is not reached, in its words.
    Unreached(String),
}

/// Who may ask the target: one that counts alone, others beside each other.
pub(super) type Turns = RwLock<()>;

/// The configuration with every webhook led through the Service, and a probe.
pub(super) fn leading(
    configuration: &WebhookConfiguration,
    number: usize,
    service: &Service,
) -> WebhookConfiguration {
    let through = |path: String| ClientConfig {
        url: None,
        service: Some(ServiceReference {
            namespace: service.namespace.clone(),
            name: service.name.clone(),
            path: Some(path),
            port: None,
        }),
        ca_bundle: Some(service.ca_bundle.clone()),
    };
    let mut led = configuration.clone();
    for webhook in &mut led.webhooks {
        webhook.client_config = through(route::path(webhook));
    }
    led.webhooks.push(probe::registration(number, &number.to_string(), through("/probe".to_owned())));
    led
}

/// Whether the configuration of this number is heeded.
async fn heed(cluster: &Cluster, number: usize) -> Result<Heed, ClusterError> {
    let reply = cluster.create(&probe::object(&number.to_string()), "dryRun=All").await?;
    let message = reply.message();
    Ok(match reply.is_success() {
        true => Heed::No,
        false if message.contains(NOT_SERVED) => Heed::Yes,
        false => Heed::Unreached(message),
    })
}

/// Sends a probe of each configuration until all are heeded, or none is any more.
pub(super) async fn await_heed(cluster: &Cluster, of: usize, wanted: bool) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    for number in 0..of {
        loop {
            let found = heed(cluster, number).await.map_err(|error| error.to_string())?;
            if found == (if wanted { Heed::Yes } else { Heed::No }) {
                break;
            }
            if Instant::now() > deadline {
                return Err(format!("{PATIENCE:?} after a registration changed, its heed is {found:?}"));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(())
}

/// Sends a request. Where it matters whether the target is asked, its count tells, else the registration.
pub(super) async fn ask(
    ground: &Ground<'_>,
    looked: Looked<'_>,
    facts: &prepare::Prepared,
    (subject, ask, input): (&Subject, &Ask, Option<&Value>),
) -> Result<Sent, ClusterError> {
    let (expected, calls) = expected(ground, looked, facts, (subject, input));
    if looked.case.then.called.is_none() {
        let _beside_others = ground.turns.read().await;
        let reply = send::send(&ground.asking, ask).await?;
        return Ok(Sent { reply, called: expected, calls });
    }
    let _alone = ground.turns.write().await;
    let paths = ground.started.running.paths(looked.webhook());
    let mut counts = 0;
    loop {
        let before = count(ground.started.running, &paths).await;
        let reply = send::send(&ground.asking, ask).await?;
        let after = count(ground.started.running, &paths).await;
        counts += 1;
        let called = match (before, after) {
            (Some(before), Some(after)) => after > before,
            _ => expected,
        };
        // A target that began anew meanwhile counts anew.
        if called == expected || counts == COUNTS {
            return Ok(Sent { reply, called, calls });
        }
    }
}

/// Whether the API server found no way to the target, which says nothing about it: its pod may just begin.
pub(super) fn is_unreached(reply: &Reply) -> bool {
    let message = reply.message();
    !reply.is_success() && message.contains("failed calling webhook") && message.contains(": dial tcp ")
}

/// Whether the target is to be asked, and what, by its registration.
fn expected(
    ground: &Ground<'_>,
    looked: Looked<'_>,
    facts: &prepare::Prepared,
    (subject, input): (&Subject, Option<&Value>),
) -> (bool, Vec<Call>) {
    let mut subject = subject.clone();
    if subject.object.is_some() {
        subject.object = input.cloned().or(subject.object);
    }
    let labels = place::namespace_labels(&facts.placed);
    match route::route(ground.started.running, looked.webhook(), &subject, &labels) {
        Routing::Registered(routes) => {
            let question = exchange::question(&subject, ReviewVersion::V1, &facts.uid);
            let review: Value = serde_json::from_slice(&question.to_bytes()).unwrap_or_default();
            let call = |route: route::Route| Call {
                path: route.path,
                request: review["request"].clone(),
                failed: None,
            };
            let calls: Vec<Call> = routes.into_iter().map(call).collect();
            (!calls.is_empty(), calls)
        }
        // Only a server converts objects.
        Routing::Converted(_) => (true, Vec::new()),
        Routing::Named(_) | Routing::Unknown => (false, Vec::new()),
    }
}

/// How often the target says it was asked on these paths; nothing if it does not say.
async fn count(running: &dyn Running, paths: &[String]) -> Option<u64> {
    running.metrics().await.map(|exposition| counted(&exposition, paths))
}

fn counted(exposition: &str, paths: &[String]) -> u64 {
    let labels: Vec<String> = paths.iter().map(|path| format!("webhook=\"{path}\"")).collect();
    let lines =
        exposition.lines().filter(|line| line.starts_with("controller_runtime_webhook_requests_total{"));
    let of_paths = lines.filter(|line| labels.iter().any(|label| line.contains(label)));
    let counts = of_paths.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
    counts.map(|count| format!("{count:.0}").parse::<u64>().unwrap_or_default()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use webhook::registration::{Phase, Registration};

    #[test]
    fn requests_are_counted_over_all_answers_of_the_paths_that_are_meant() {
        let exposition = "# TYPE controller_runtime_webhook_requests_total counter\n\
            controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/a\"} 3\n\
            controller_runtime_webhook_requests_total{code=\"500\",webhook=\"/a\"} 1.2e+01\n\
            controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/a/b\"} 7\n\
            controller_runtime_webhook_requests_in_flight{webhook=\"/a\"} 9\n";
        let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let table =
            [(paths(&["/a"]), 15), (paths(&["/a", "/a/b"]), 22), (paths(&["/c"]), 0), (paths(&[]), 0)];
        for (paths, want) in table {
            assert_eq!(counted(exposition, &paths), want, "{paths:?}");
        }
    }

    #[test]
    fn a_call_that_found_no_way_is_told_apart_from_one_that_was_answered_badly() {
        let table = [
            (
                500,
                r#"failed calling webhook "a": failed to call webhook: Post "https://a.b.svc:443/c": dial tcp 10.96.1.2:443: connect: connection refused"#,
                true,
            ),
            (
                500,
                r#"failed calling webhook "a": failed to call webhook: Post "https://a.b.svc:443/c": context deadline exceeded"#,
                false,
            ),
            (403, r#"admission webhook "a" denied the request: dial tcp "#, false),
            (200, "", false),
        ];
        for (code, message, want) in table {
            let reply = Reply { code, body: json!({"message": message}), warnings: Vec::new() };
            assert_eq!(is_unreached(&reply), want, "{message}");
        }
    }

    #[test]
    fn every_webhook_leads_through_the_service_and_the_probe_has_a_mark_of_its_own() {
        let url = Some("https://grm.garden:443/webhooks/a".to_owned());
        let to = ClientConfig { url, ..ClientConfig::default() };
        let webhooks = vec![Registration { client_config: to, ..Registration::default() }];
        let configuration = WebhookConfiguration {
            phase: Phase::Mutating,
            name: "grm".to_owned(),
            labels: std::collections::BTreeMap::new(),
            webhooks,
        };
        let text = str::to_owned;
        let service = Service { namespace: text("one"), name: text("grm-2"), ca_bundle: text("QQ==") };
        let led = leading(&configuration, 1, &service).to_object();
        let to = |path: &str| json!({"caBundle": "QQ==", "service": {"namespace": "one", "name": "grm-2", "path": path}});
        assert_eq!(led["webhooks"][0]["clientConfig"], to("/webhooks/a"));
        assert_eq!(led["webhooks"][1]["clientConfig"], to("/probe"));
        let labels = json!({"conformance.gardener.cloud/probe": "1"});
        assert_eq!(led["webhooks"][1]["objectSelector"]["matchLabels"], labels);
        assert_eq!(probe::object("1")["metadata"]["labels"], labels);
    }
}
