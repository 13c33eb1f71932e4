//! The clusters of a scenario: one or two separate API servers.

use std::collections::BTreeMap;

use contract::scenario::{NAMESPACE, ObjectRef, Refusal, RequestMatcher, Scenario, Side};
use controller::leader::ElectionConfig;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError, resource};
use substrate::embedded::{Embedded, OUTSIDE_USER, TypedRules};
use substrate::envtest::Lane;
use substrate::facts;

use super::environment::{RealClusters, ScenarioEnvironment};
use super::refusals::ActiveRefusals;
use super::snapshot::NamespaceSnapshot;
use super::steps::ScenarioEnd;
use super::{dry_run, events, generated, leftovers};
use crate::gardener::stage;
use crate::target::{self, Facts};

/// The user of the harness; a request of any other user counts as the target's.
pub(crate) const OTHER_USER: &str = "gardener-conformance";

/// The user of a target in this process.
pub(crate) const TARGET_USER: &str = "gardener-conformance:target";

/// The user of the second instance of a target in this process, if there are two.
pub(crate) const SECOND_USER: &str = "gardener-conformance:target-2";

/// The API servers of a scenario.
pub(super) struct Clusters {
    source: ClusterServer,
    /// Absent if source and target are the same cluster.
    target: Option<ClusterServer>,
    /// Whether the target's writes have no effect.
    idle: bool,
    /// The target's user.
    user: &'static str,
    /// Requests of the target that are refused.
    refusals: ActiveRefusals,
}

/// One API server with the harness's client.
struct ClusterServer {
    server: Embedded,
    others: kube::Client,
    /// The namespaces of a real cluster before the scenario.
    snapshot: Option<NamespaceSnapshot>,
}

impl ClusterServer {
    /// One of the real clusters if there are any, else an embedded server.
    async fn start(
        environment: &ScenarioEnvironment,
        name: impl Fn(&Lane) -> &str,
    ) -> Result<Self, ScenarioEnd> {
        let environment_error = |error: &dyn std::fmt::Display| ScenarioEnd::Environment(error.to_string());
        let Some(RealClusters { control_plane, lane }) = &environment.real else {
            let server = Embedded::start_with(environment.served_api(), environment.outside, None)
                .await
                .map_err(|error| environment_error(&error))?;
            // Of typed kinds, the rules judge what the target writes; a scenario sets the stage without them.
            let others = server.client_under(OTHER_USER, TypedRules::Stored);
            return Ok(Self { others, server, snapshot: None });
        };
        let cluster = control_plane.cluster(name(lane));
        facts::let_askers_in(&cluster.client).await.map_err(|error| environment_error(&error))?;
        let server = Embedded::before(cluster, environment.outside)
            .await
            .map_err(|error| environment_error(&error))?;
        let others = server.client_as(OTHER_USER);
        let snapshot = Some(NamespaceSnapshot::take(others.clone()).await.map_err(ScenarioEnd::Environment)?);
        Ok(Self { server, others, snapshot })
    }
}

impl Clusters {
    /// Starts the clusters that the scenario uses.
    pub(super) async fn start(
        scenario: &Scenario,
        environment: &ScenarioEnvironment,
        idle: bool,
    ) -> Result<Self, ScenarioEnd> {
        let source = ClusterServer::start(environment, |lane| &lane.source).await?;
        let target = if scenario.is_of_one_cluster() {
            None
        } else {
            Some(ClusterServer::start(environment, |lane| &lane.target).await?)
        };
        let user = if environment.outside { OUTSIDE_USER } else { TARGET_USER };
        let started = Self { source, target, idle, user, refusals: ActiveRefusals::to([user, SECOND_USER]) };
        let written = environment.needs.write(&started.cluster(Side::Source)).await;
        written.map_err(|error| write_error(Side::Source, &error))?;
        if let Some(aggregated) = &environment.aggregated {
            let cluster = started.cluster(Side::Source);
            let written = stage::write_for_scenario(&cluster, &aggregated.api, scenario).await;
            written.map_err(|error| write_error(Side::Source, &error))?;
        }
        Ok(started)
    }

    /// Restores real clusters for the next scenario; embedded ones end with the scenario. Cleans up both even if one fails.
    pub(super) async fn clean_up(&self) -> Result<(), ScenarioEnd> {
        let mut result = Ok(());
        for member in std::iter::once(&self.source).chain(&self.target) {
            if let Some(snapshot) = &member.snapshot {
                let cleaned_up = leftovers::clean_up(&member.server, &member.others, snapshot).await;
                result = result.and(cleaned_up);
            }
        }
        result
    }

    /// Each server once.
    pub(super) fn servers(&self) -> impl Iterator<Item = &Embedded> {
        std::iter::once(&self.source).chain(&self.target).map(|member| &member.server)
    }

    /// The user of the target's requests.
    pub(super) fn target_user(&self) -> &'static str {
        self.user
    }

    /// The harness's client of a side.
    pub(super) fn client(&self, side: Side) -> kube::Client {
        self.member(side).others.clone()
    }

    /// A side with the harness's client.
    pub(super) fn cluster(&self, side: Side) -> Cluster {
        Cluster::new(self.client(side))
    }

    fn member(&self, side: Side) -> &ClusterServer {
        match (side, &self.target) {
            (Side::Target, Some(target)) => target,
            _ => &self.source,
        }
    }

    /// The server of a side.
    pub(super) fn server(&self, side: Side) -> &Embedded {
        &self.member(side).server
    }

    /// The clusters that an instance of the target starts with; in this process, its requests are those of this user, and those of
    /// its election of a user that is called as its identity.
    pub(super) fn for_target(&self, user: &str, election: Option<ElectionConfig>) -> target::Clusters {
        let client = |server: &Embedded| {
            let idle = self.idle;
            server.client_through(user, move |request| {
                if idle {
                    dry_run::make_dry_run(request);
                }
            })
        };
        let facts = |server: &Embedded| Facts { client: client(server), ..Facts::in_process(server) };
        target::Clusters {
            source: facts(&self.source.server),
            target: self.target.as_ref().map(|target| facts(&target.server)),
            now: self.source.server.now(),
            chance: target::Chance::Seeded,
            election: election.map(|config| {
                let client = self.source.server.client_as(&config.identity);
                target::Election { config, client }
            }),
        }
    }

    /// Refuses requests of the target, or stops refusing them if `refusal` is `None`.
    pub(super) fn refuse(&self, side: Side, requests: &RequestMatcher, refusal: Option<Refusal>) {
        self.refusals.set(&self.member(side).server, side, requests, refusal);
    }

    /// Writes objects in order before the target starts; replaces objects that an earlier scenario left.
    pub(super) async fn write(&self, given: &BTreeMap<Side, Vec<Value>>) -> Result<(), ScenarioEnd> {
        for (side, objects) in given {
            for object in objects {
                let (cluster, object) = self.in_namespace(*side, object).await?;
                let written = facts::write_anew(&cluster, &object).await;
                written.map_err(|error| write_error(*side, &error))?;
            }
        }
        Ok(())
    }

    /// Writes one object; creates its namespace if it does not exist.
    pub(super) async fn create(&self, side: Side, object: &Value) -> Result<(), ScenarioEnd> {
        let (cluster, object) = self.in_namespace(side, object).await?;
        facts::write(&cluster, &object).await.map_err(|error| write_error(side, &error))?;
        Ok(())
    }

    /// Prepares an object for writing: sets its namespace, creates that, and fills in owners.
    async fn in_namespace(&self, side: Side, object: &Value) -> Result<(Cluster, Value), ScenarioEnd> {
        let cluster = self.cluster(side);
        let failed = |error: ClusterError| write_error(side, &error);
        let mut object = object.clone();
        if resource(&object).map_err(failed)?.namespaced {
            if object["metadata"]["namespace"].as_str().unwrap_or_default().is_empty() {
                object["metadata"]["namespace"] = json!(NAMESPACE);
            }
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
            facts::write_namespace(&cluster, &namespace, None).await.map_err(failed)?;
        }
        self.fill_in_owner_uids(side, &mut object).await?;
        Ok((cluster, object))
    }

    /// Fills in the uid of existing owners where it is empty: scenarios cannot know uids.
    async fn fill_in_owner_uids(&self, side: Side, object: &mut Value) -> Result<(), ScenarioEnd> {
        let namespace = object["metadata"]["namespace"].clone();
        let owners = object["metadata"].get_mut("ownerReferences").and_then(Value::as_array_mut);
        for owner in owners.into_iter().flatten().filter(|owner| owner["uid"] == "") {
            let failed =
                |reason: &str| ScenarioEnd::Environment(format!("failed to find owner {owner}: {reason}"));
            let head = json!({
                "apiVersion": owner["apiVersion"], "kind": owner["kind"],
                "metadata": {"name": owner["name"], "namespace": namespace},
            });
            let found = self.cluster(side).get(&head).await.map_err(|error| failed(&error.to_string()))?;
            if !found.is_success() {
                return Err(failed(&found.message()));
            }
            owner["uid"] = found.body["metadata"]["uid"].clone();
        }
        Ok(())
    }

    /// Reads an object; `None` if it does not exist.
    pub(super) async fn read(&self, side: Side, object: &ObjectRef) -> Result<Option<Value>, String> {
        if object.kind == "Event" {
            return events::read(self.client(side), object).await;
        }
        if generated::prefix(object).is_some() {
            return generated::read(self.client(side), object).await;
        }
        let reply = self.cluster(side).get(&head(object)).await.map_err(|error| error.to_string())?;
        match reply.code {
            404 => Ok(None),
            _ if reply.is_success() => Ok(Some(reply.body)),
            _ => Err(reply.message()),
        }
    }
}

/// An object with nothing but its identity.
pub(super) fn head(object: &ObjectRef) -> Value {
    let mut head = json!({
        "apiVersion": object.api_version, "kind": object.kind, "metadata": {"name": object.name},
    });
    if !object.namespace.is_empty() {
        head["metadata"]["namespace"] = json!(object.namespace);
    }
    head
}

fn write_error(side: Side, error: &ClusterError) -> ScenarioEnd {
    ScenarioEnd::Environment(format!("failed to write to {}: {error}", side.name()))
}
