//! Batches of one instance and configuration: both targets are started once, each world is written, its inputs are asked,
//! and what differs is explained or shrunk while the world still stands.

use std::time::Duration;

use contract::explanations::Asked;
use contract::model::Contract;
use futures::StreamExt as _;
use serde_json::Value;
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;

use super::ask::{Pair, Side};
use super::effect::{Difference, Effect, differences};
use super::input::{Batch, Input, World};
use super::outcome::{Example, Explained, Group, SubjectOutcome};
use super::settle;
use super::world::Standing;
use super::{FactsFrom, Setting, Shared};
use crate::matching;
use crate::target::{Facts, Running, Setup, Target};

/// Inputs that are asked side by side.
const SIDE_BY_SIDE: usize = 8;
/// How long informers of a target lag as a rule: two that both lag would agree.
const LAG: Duration = Duration::from_millis(60);

/// What both made of an input.
pub(super) type Effects = (Effect, Effect);

/// Asks all batches, which share instance and configuration, and adds to what is found; an error is what broke around the
/// targets.
pub(super) async fn ask(
    shared: &Shared<'_>,
    contract: &Contract,
    batches: Vec<Batch>,
    found: &mut SubjectOutcome,
) -> Result<(), String> {
    let Some(first) = batches.first() else { return Ok(()) };
    let (instance, config) = (first.instance.clone(), first.config.clone());
    let setting = Setting { shared, contract, instance: &instance, config: &config };
    let outside = shared.a.is_outside() || shared.b.is_outside();
    let (_server, facts) = match &shared.options.facts {
        FactsFrom::Given(facts) => (None, facts.clone()),
        FactsFrom::Embedded | FactsFrom::Nowhere => {
            let server = Embedded::start(outside, None).await.map_err(|error| error.to_string())?;
            let facts = Facts::in_process(&server);
            (Some(server), facts)
        }
    };
    let a = start(&setting, shared.a, &facts).await?;
    let b = match start(&setting, shared.b, &facts).await {
        Ok(b) => b,
        Err(error) => {
            a.stop().await;
            return Err(error);
        }
    };
    let webhook = found.subject.name().to_owned();
    let pair = Pair { a: Side::new(a.as_ref()), b: Side::new(b.as_ref()), webhook: &webhook };
    let cluster = Cluster::new(facts.client);
    let mut result = Ok(());
    for batch in batches {
        result = one(&setting, &pair, &cluster, batch, found).await;
        if result.is_err() {
            break;
        }
    }
    a.stop().await;
    b.stop().await;
    result
}

async fn start(
    setting: &Setting<'_>,
    target: &dyn Target,
    facts: &Facts,
) -> Result<Box<dyn Running>, String> {
    let setup = Setup {
        component: &setting.contract.component,
        now: None,
        config: setting.config,
        instance: setting.instance,
        facts: Some(facts.clone()),
        clusters: None,
    };
    target.start(setup).await.map_err(|error| error.to_string())
}

/// One world and its inputs.
async fn one(
    setting: &Setting<'_>,
    pair: &Pair<'_>,
    cluster: &Cluster,
    batch: Batch,
    found: &mut SubjectOutcome,
) -> Result<(), String> {
    let writes = !matches!(setting.shared.options.facts, FactsFrom::Nowhere);
    let mut standing = if writes {
        let standing = Standing::write(cluster, batch.world).await.map_err(|error| error.to_string())?;
        tokio::time::sleep(LAG.min(setting.shared.options.settle)).await;
        standing
    } else {
        Standing::unwritten(batch.world)
    };
    let asked: Vec<Result<Option<Effects>, String>> = futures::stream::iter(&batch.inputs)
        .map(|input| pair.ask(input, &standing.world))
        .buffered(SIDE_BY_SIDE)
        .collect()
        .await;
    let mut result = Ok(());
    for (input, asked) in batch.inputs.iter().zip(asked) {
        match asked {
            Ok(Some(effects)) => {
                result = judge(setting, pair, cluster, (&mut standing, input, effects), found).await;
            }
            Ok(None) => found.not_served += 1,
            Err(error) => result = Err(error),
        }
        if result.is_err() {
            break;
        }
    }
    (setting.shared.progress)(pair.webhook, batch.inputs.len());
    let removed = standing.remove(cluster).await.map_err(|error| error.to_string());
    result.and(removed)
}

/// Counts what both made of an input, and its differences.
async fn judge(
    setting: &Setting<'_>,
    pair: &Pair<'_>,
    cluster: &Cluster,
    (standing, input, effects): (&mut Standing, &Input, Effects),
    found: &mut SubjectOutcome,
) -> Result<(), String> {
    found.count(&effects.0);
    let known = found.groups.iter().filter(|group| group.explanation.is_none());
    let known: Vec<String> = known.map(|group| group.place.clone()).collect();
    let settled = settle::settled(setting, pair, &standing.world, (input, effects), &known).await?;
    let differences = setting.differences(input, &settled);
    if differences.is_empty() {
        return Ok(());
    }
    found.differing += 1;
    let mut groups = Vec::new();
    for difference in differences {
        let place = difference.group();
        let explanation = setting.explained(pair.webhook, &difference, input, &standing.world);
        // One input counts once in a group, in however many elements it differs.
        if groups.contains(&(place.clone(), explanation.clone())) {
            continue;
        }
        groups.push((place.clone(), explanation.clone()));
        if let Some(group) = found.group(&place, explanation.as_ref()) {
            group.inputs += 1;
            continue;
        }
        let example = match explanation {
            Some(_) => Example::new(&difference, setting.told(input, &standing.world)),
            None => settle::shrunk(setting, pair, cluster, (standing, input), difference).await?,
        };
        found.groups.push(Group { place, inputs: 1, explanation, example });
    }
    Ok(())
}

impl Setting<'_> {
    /// Where the effects of an input differ.
    pub(super) fn differences(&self, input: &Input, (a, b): &Effects) -> Vec<Difference> {
        let rules = matching::rules(self.contract, input.looked_at());
        differences(a, b, input.looked_at(), &rules)
    }

    /// Why they do.
    pub(super) fn explained(
        &self,
        webhook: &str,
        difference: &Difference,
        input: &Input,
        world: &World,
    ) -> Option<Explained> {
        self.shared.explainer.explained(Asked::Webhook(webhook), difference, &self.told(input, world))
    }

    /// Everything that was asked.
    pub(super) fn told(&self, input: &Input, world: &World) -> Value {
        input.told(self.instance, self.config, world)
    }
}
