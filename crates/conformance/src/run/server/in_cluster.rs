//! A target inside the cluster of the API server, which reaches it through its Service; its metrics show whether it was called.

use serde_json::Value;
use substrate::cluster::{Cluster, ClusterError, Reply};
use tokio::sync::RwLock;
use tokio::time::Instant;
use webhook::registration::{ClientConfig, ServiceReference, WebhookConfiguration};

use super::group_server::{PATIENCE, PAUSE};
use super::recorder::{Call, ServerExchange};
use super::request::ServerRequest;
use super::{WebhookContext, probe, send};
use crate::exchange::{self, Subject};
use crate::place;
use crate::plan::LocatedCase;
use crate::route::{self, Routing};
use crate::run::prepare;
use crate::target::{Running, Service};
use webhook::review::ReviewVersion;

/// How often a request is sent if the metrics do not show what is expected.
const ATTEMPTS: usize = 4;
/// kube-apiserver's message about a webhook that answers 404, as a target does on the path of probes.
const NOT_SERVED: &str = "the server could not find the requested resource";

/// Whether an API server uses a webhook configuration.
#[derive(Debug, PartialEq, Eq)]
enum RegistrationState {
    /// It calls no webhook.
    Inactive,
    /// It calls the target.
    Active,
    /// It tries to call the target and fails with this message.
    Unreachable(String),
}

/// Held exclusively by a request for which the target's metrics count the calls, shared by all others.
pub(super) type TargetLock = RwLock<()>;

/// The configuration with every webhook's address replaced by the Service, and a probe.
pub(super) fn redirected(
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
    let mut redirected = configuration.clone();
    for webhook in &mut redirected.webhooks {
        webhook.client_config = through(route::path(webhook));
    }
    redirected.webhooks.push(probe::registration(number, &number.to_string(), through("/probe".to_owned())));
    redirected
}

/// Whether the configuration with this number is active.
async fn registration_state(cluster: &Cluster, number: usize) -> Result<RegistrationState, ClusterError> {
    let reply = cluster.create(&probe::object(&number.to_string()), "dryRun=All").await?;
    let message = reply.message();
    Ok(match reply.is_success() {
        true => RegistrationState::Inactive,
        false if message.contains(NOT_SERVED) => RegistrationState::Active,
        false => RegistrationState::Unreachable(message),
    })
}

/// Sends probes until all configurations are active, or (`wanted` is false) all are inactive.
pub(super) async fn wait_until_registered(cluster: &Cluster, of: usize, wanted: bool) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    for number in 0..of {
        loop {
            let found = registration_state(cluster, number).await.map_err(|error| error.to_string())?;
            if found == (if wanted { RegistrationState::Active } else { RegistrationState::Inactive }) {
                break;
            }
            if Instant::now() > deadline {
                return Err(format!(
                    "{PATIENCE:?} after a webhook configuration changed, the API server treats it as {found:?}"
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(())
}

/// Sends a request. If the case asserts whether the target is called, its metrics show that, else its registration.
pub(super) async fn send(
    context: &WebhookContext<'_>,
    located: LocatedCase<'_>,
    facts: &prepare::PreparedCase,
    (subject, request, input): (&Subject, &ServerRequest, Option<&Value>),
) -> Result<ServerExchange, ClusterError> {
    let (expected, calls) = expected_calls(context, located, facts, (subject, input));
    if located.case.then.called.is_none() {
        let _shared_lock = context.target_lock.read().await;
        let reply = send::send(&context.requests, request).await?;
        return Ok(ServerExchange { reply, called: expected, calls });
    }
    let _exclusive_lock = context.target_lock.write().await;
    let paths = context.started.running.paths(located.webhook());
    let mut attempts = 0;
    loop {
        let before = call_count(context.started.running, &paths).await;
        let reply = send::send(&context.requests, request).await?;
        let after = call_count(context.started.running, &paths).await;
        attempts += 1;
        let called = match (before, after) {
            (Some(before), Some(after)) => after > before,
            _ => expected,
        };
        // The metrics of a target that restarted in between begin at zero.
        if called == expected || attempts == ATTEMPTS {
            return Ok(ServerExchange { reply, called, calls });
        }
    }
}

/// Whether the API server could not connect to the target, which says nothing about it: its pod may be starting.
pub(super) fn is_unreached(reply: &Reply) -> bool {
    let message = reply.message();
    !reply.is_success() && message.contains("failed calling webhook") && message.contains(": dial tcp ")
}

/// Whether the registration leads to the target, and its calls.
fn expected_calls(
    context: &WebhookContext<'_>,
    located: LocatedCase<'_>,
    facts: &prepare::PreparedCase,
    (subject, input): (&Subject, Option<&Value>),
) -> (bool, Vec<Call>) {
    let mut subject = subject.clone();
    if subject.object.is_some() {
        subject.object = input.cloned().or(subject.object);
    }
    let labels = place::namespace_labels(&facts.placed);
    match route::route(context.started.running, located.webhook(), &subject, &labels) {
        Routing::Registered(routes) => {
            let question = exchange::question(&subject, ReviewVersion::V1, &facts.uid);
            let review = formats::json::document(&question.to_bytes()).unwrap_or_default();
            let call = |route: route::Route| Call {
                path: route.path,
                request: review["request"].clone(),
                failed: None,
            };
            let calls: Vec<Call> = routes.into_iter().map(call).collect();
            (!calls.is_empty(), calls)
        }
        // Only an API server converts objects.
        Routing::Converted(_) => (true, Vec::new()),
        Routing::Named(_) | Routing::Unknown => (false, Vec::new()),
    }
}

/// Number of requests on these paths by the target's metrics; `None` if there are no metrics.
async fn call_count(running: &dyn Running, paths: &[String]) -> Option<u64> {
    running.metrics().await.map(|exposition| count_calls(&exposition, paths))
}

fn count_calls(exposition: &str, paths: &[String]) -> u64 {
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
    fn requests_on_the_given_paths_are_counted_with_all_codes() {
        let exposition = "# TYPE controller_runtime_webhook_requests_total counter\n\
            controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/a\"} 3\n\
            controller_runtime_webhook_requests_total{code=\"500\",webhook=\"/a\"} 1.2e+01\n\
            controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/a/b\"} 7\n\
            controller_runtime_webhook_requests_in_flight{webhook=\"/a\"} 9\n";
        let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let table =
            [(paths(&["/a"]), 15), (paths(&["/a", "/a/b"]), 22), (paths(&["/c"]), 0), (paths(&[]), 0)];
        for (paths, want) in table {
            assert_eq!(count_calls(exposition, &paths), want, "{paths:?}");
        }
    }

    #[test]
    fn only_a_failed_connection_counts_as_unreached() {
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
    fn every_webhook_is_redirected_to_the_service_and_the_probe_has_its_own_label() {
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
        let redirected = redirected(&configuration, 1, &service).to_object();
        let to = |path: &str| json!({"caBundle": "QQ==", "service": {"namespace": "one", "name": "grm-2", "path": path}});
        assert_eq!(redirected["webhooks"][0]["clientConfig"], to("/webhooks/a"));
        assert_eq!(redirected["webhooks"][1]["clientConfig"], to("/probe"));
        let labels = json!({"conformance.gardener.cloud/probe": "1"});
        assert_eq!(redirected["webhooks"][1]["objectSelector"]["matchLabels"], labels);
        assert_eq!(probe::object("1")["metadata"]["labels"], labels);
    }
}
