//! The clusters of a scenario: one or two servers of its own.

use std::collections::BTreeMap;

use contract::scenario::{Asked, NAMESPACE, ObjectRef, Refusal, Scenario, Side};
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError, resource};
use substrate::embedded::{Embedded, OUTSIDE_USER};
use substrate::envtest::Lane;
use substrate::facts;

use super::place::{Place, Real};
use super::refused::Refused;
use super::standing::Standing;
use super::steps::Ended;
use super::{dry_run, events, leftovers};
use crate::target::{self, Facts};

/// The user that acts for others; whatever another user does is the target's doing.
pub(in crate::run) const OTHER_USER: &str = "gardener-conformance";

/// The user that a target in this process is.
pub(in crate::run) const TARGET_USER: &str = "gardener-conformance:target";

/// The servers of a scenario.
pub(super) struct Clusters {
    source: Member,
    /// Absent where both are one.
    target: Option<Member>,
    /// Whether the target's writes have no effect.
    idle: bool,
    /// What is refused to the target.
    refused: Refused,
}

/// One server, and whoever is not the target with it.
struct Member {
    server: Embedded,
    others: kube::Client,
    /// What was there already, of a real cluster.
    standing: Option<Standing>,
}

impl Member {
    /// One of the real clusters where there are any, else a server of its own.
    async fn start(place: &Place, name: impl Fn(&Lane) -> &str) -> Result<Self, Ended> {
        let broken = |error: &dyn std::fmt::Display| Ended::Environment(error.to_string());
        let Some(Real { control_plane, lane }) = &place.real else {
            let server = Embedded::start_with(&place.needs.crds, place.outside, None)
                .await
                .map_err(|error| broken(&error))?;
            return Ok(Self { others: server.client_as(OTHER_USER), server, standing: None });
        };
        let cluster = control_plane.cluster(name(lane));
        facts::let_askers_in(&cluster.client).await.map_err(|error| broken(&error))?;
        let server = Embedded::before(cluster, place.outside).await.map_err(|error| broken(&error))?;
        let others = server.client_as(OTHER_USER);
        let standing = Some(Standing::in_cluster(others.clone()).await.map_err(Ended::Environment)?);
        Ok(Self { server, others, standing })
    }
}

impl Clusters {
    /// Starts what the scenario speaks of.
    pub(super) async fn start(scenario: &Scenario, place: &Place, idle: bool) -> Result<Self, Ended> {
        let source = Member::start(place, |lane| &lane.source).await?;
        let target = if scenario.is_of_one_cluster() {
            None
        } else {
            Some(Member::start(place, |lane| &lane.target).await?)
        };
        let user = if place.outside { OUTSIDE_USER } else { TARGET_USER };
        let started = Self { source, target, idle, refused: Refused::to(user) };
        let written = place.needs.write(&started.cluster(Side::Source)).await;
        written.map_err(|error| unwritten(Side::Source, &error))?;
        Ok(started)
    }

    /// Makes real clusters what they were, for the scenario that comes next; others end with the scenario.
    /// What fails in one does not keep the other from it.
    pub(super) async fn take_back(&self) -> Result<(), Ended> {
        let mut taken_back = Ok(());
        for member in std::iter::once(&self.source).chain(&self.target) {
            if let Some(standing) = &member.standing {
                let member = leftovers::take_back(&member.server, &member.others, standing).await;
                taken_back = taken_back.and(member);
            }
        }
        taken_back
    }

    /// Every server once.
    pub(super) fn servers(&self) -> impl Iterator<Item = &Embedded> {
        std::iter::once(&self.source).chain(&self.target).map(|member| &member.server)
    }

    /// A client of a side that is not the target's.
    pub(super) fn client(&self, side: Side) -> kube::Client {
        self.member(side).others.clone()
    }

    /// A side as another user sees it.
    pub(super) fn cluster(&self, side: Side) -> Cluster {
        Cluster::new(self.client(side))
    }

    fn member(&self, side: Side) -> &Member {
        match (side, &self.target) {
            (Side::Target, Some(target)) => target,
            _ => &self.source,
        }
    }

    /// The clusters as a target is given them.
    pub(super) fn for_target(&self) -> target::Clusters {
        let client = |server: &Embedded| {
            let idle = self.idle;
            server.client_through(TARGET_USER, move |request| {
                if idle {
                    dry_run::make(request);
                }
            })
        };
        let facts = |server: &Embedded| Facts { client: client(server), ..Facts::in_process(server) };
        target::Clusters {
            source: facts(&self.source.server),
            target: self.target.as_ref().map(|target| facts(&target.server)),
            now: self.source.server.now(),
            chance: target::Chance::Seeded,
        }
    }

    /// Refuses requests of the target, or refuses them no longer.
    pub(super) fn refuse(&self, side: Side, asked: &Asked, refusal: Option<Refusal>) {
        self.refused.set(&self.member(side).server, side, asked, refusal);
    }

    /// Writes objects, in order, as another user would have, before there is a target: what stands in their place was left by
    /// whoever was before.
    pub(super) async fn write(&self, given: &BTreeMap<Side, Vec<Value>>) -> Result<(), Ended> {
        for (side, objects) in given {
            for object in objects {
                let (cluster, object) = self.placed(*side, object).await?;
                let written = facts::write_anew(&cluster, &object).await;
                written.map_err(|error| unwritten(*side, &error))?;
            }
        }
        Ok(())
    }

    /// Writes one object; its namespace is made where there is none.
    pub(super) async fn create(&self, side: Side, object: &Value) -> Result<(), Ended> {
        let (cluster, object) = self.placed(side, object).await?;
        facts::write(&cluster, &object).await.map_err(|error| unwritten(side, &error))?;
        Ok(())
    }

    /// An object as it is to be written, where its namespace is there.
    async fn placed(&self, side: Side, object: &Value) -> Result<(Cluster, Value), Ended> {
        let cluster = self.cluster(side);
        let failed = |error: ClusterError| unwritten(side, &error);
        let mut object = object.clone();
        if resource(&object).map_err(failed)?.namespaced {
            if object["metadata"]["namespace"].as_str().unwrap_or_default().is_empty() {
                object["metadata"]["namespace"] = json!(NAMESPACE);
            }
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
            facts::write_namespace(&cluster, &namespace, None).await.map_err(failed)?;
        }
        self.know_owners(side, &mut object).await?;
        Ok((cluster, object))
    }

    /// An owner with an empty uid is the one that is there: nobody knows its uid beforehand.
    async fn know_owners(&self, side: Side, object: &mut Value) -> Result<(), Ended> {
        let namespace = object["metadata"]["namespace"].clone();
        let owners = object["metadata"].get_mut("ownerReferences").and_then(Value::as_array_mut);
        for owner in owners.into_iter().flatten().filter(|owner| owner["uid"] == "") {
            let failed = |reason: &str| Ended::Environment(format!("failed to find owner {owner}: {reason}"));
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

    /// An object as it stands; absent where there is none.
    pub(super) async fn read(&self, side: Side, object: &ObjectRef) -> Result<Option<Value>, String> {
        if object.kind == "Event" {
            return events::read(self.client(side), object).await;
        }
        let reply = self.cluster(side).get(&head(object)).await.map_err(|error| error.to_string())?;
        match reply.code {
            404 => Ok(None),
            _ if reply.is_success() => Ok(Some(reply.body)),
            _ => Err(reply.message()),
        }
    }
}

/// An object that has nothing but its name.
pub(super) fn head(object: &ObjectRef) -> Value {
    let mut head = json!({
        "apiVersion": object.api_version, "kind": object.kind, "metadata": {"name": object.name},
    });
    if !object.namespace.is_empty() {
        head["metadata"]["namespace"] = json!(object.namespace);
    }
    head
}

fn unwritten(side: Side, error: &ClusterError) -> Ended {
    Ended::Environment(format!("failed to write to {}: {error}", side.name()))
}
