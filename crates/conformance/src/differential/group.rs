//! Runs batches of one instance and configuration: starts both targets once, writes each world, sends its inputs, and explains or
//! shrinks differences before the world is removed.

use std::time::Duration;

use contract::explanations::SubjectName;
use contract::model::Contract;
use futures::StreamExt as _;
use serde_json::Value;
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;

use super::effect::{Difference, Effects, differences};
use super::input::{Batch, Input, World};
use super::outcome::{Example, Explained, Group, SubjectOutcome};
use super::retry;
use super::target_pair::{StartedTarget, TargetPair};
use super::world::WrittenWorld;
use super::{DifferentialRun, FactsFrom, TargetSetting};
use crate::matching;
use crate::target::{Facts, Running, Setup, Target};

/// Number of inputs that are sent in parallel.
const SIDE_BY_SIDE: usize = 8;
/// Usual lag of a target's informers: two targets that both lag would agree.
const LAG: Duration = Duration::from_millis(60);

/// Runs all batches, which share instance and configuration, and adds their results to `found`.
///
/// # Errors
/// If the environment broke.
pub(super) async fn run_batches(
    shared: &DifferentialRun<'_>,
    contract: &Contract,
    batches: Vec<Batch>,
    found: &mut SubjectOutcome,
) -> Result<(), String> {
    let Some(first) = batches.first() else { return Ok(()) };
    let (instance, config) = (first.instance.clone(), first.config.clone());
    let setting = TargetSetting { shared, contract, instance: &instance, config: &config };
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
    let pair = TargetPair {
        a: StartedTarget::new(a.as_ref()),
        b: StartedTarget::new(b.as_ref()),
        webhook: &webhook,
    };
    let cluster = Cluster::new(facts.client);
    let mut result = Ok(());
    for batch in batches {
        result = run_batch(&setting, &pair, &cluster, batch, found).await;
        if result.is_err() {
            break;
        }
    }
    a.stop().await;
    b.stop().await;
    result
}

async fn start(
    setting: &TargetSetting<'_>,
    target: &dyn Target,
    facts: &Facts,
) -> Result<Box<dyn Running>, String> {
    let setup = Setup {
        component: &setting.contract.component,
        now: None,
        config: setting.config,
        instance: setting.instance,
        controller: None,
        facts: Some(facts.clone()),
        clusters: None,
    };
    target.start(setup).await.map_err(|error| error.to_string())
}

/// Runs the inputs of one world.
async fn run_batch(
    setting: &TargetSetting<'_>,
    pair: &TargetPair<'_>,
    cluster: &Cluster,
    batch: Batch,
    found: &mut SubjectOutcome,
) -> Result<(), String> {
    let writes = !matches!(setting.shared.options.facts, FactsFrom::Nowhere);
    let mut written_world = if writes {
        let written_world =
            WrittenWorld::write(cluster, batch.world).await.map_err(|error| error.to_string())?;
        tokio::time::sleep(LAG.min(setting.shared.options.settle)).await;
        written_world
    } else {
        WrittenWorld::unwritten(batch.world)
    };
    let results: Vec<Result<Option<Effects>, String>> = futures::stream::iter(&batch.inputs)
        .map(|input| pair.send(input, &written_world.world))
        .buffered(SIDE_BY_SIDE)
        .collect()
        .await;
    let mut outcome = Ok(());
    for (input, result) in batch.inputs.iter().zip(results) {
        match result {
            Ok(Some(effects)) => {
                outcome = judge(setting, pair, cluster, (&mut written_world, input, effects), found).await;
            }
            Ok(None) => found.not_served += 1,
            Err(error) => outcome = Err(error),
        }
        if outcome.is_err() {
            break;
        }
    }
    (setting.shared.progress)(pair.webhook, batch.inputs.len());
    let removed = written_world.remove(cluster).await.map_err(|error| error.to_string());
    outcome.and(removed)
}

/// Counts an input by its effects and differences.
async fn judge(
    setting: &TargetSetting<'_>,
    pair: &TargetPair<'_>,
    cluster: &Cluster,
    (written_world, input, effects): (&mut WrittenWorld, &Input, Effects),
    found: &mut SubjectOutcome,
) -> Result<(), String> {
    found.count(&effects.0);
    let known = found.groups.iter().filter(|group| group.explanation.is_none());
    let known: Vec<String> = known.map(|group| group.place.clone()).collect();
    let stable =
        retry::retry_while_unexplained(setting, pair, &written_world.world, (input, effects), &known).await?;
    let differences = setting.differences(input, &stable);
    if differences.is_empty() {
        return Ok(());
    }
    found.differing += 1;
    let mut groups = Vec::new();
    for difference in differences {
        let place = difference.group();
        let explanation = setting.explained(pair.webhook, &difference, input, &written_world.world);
        // An input counts once in a group, even if several elements differ.
        if groups.contains(&(place.clone(), explanation.clone())) {
            continue;
        }
        groups.push((place.clone(), explanation.clone()));
        if let Some(group) = found.group(&place, explanation.as_ref()) {
            group.inputs += 1;
            continue;
        }
        let example = match explanation {
            Some(_) => Example::new(&difference, setting.describe_input(input, &written_world.world)),
            None => retry::shrink(setting, pair, cluster, (written_world, input), difference).await?,
        };
        found.groups.push(Group { place, inputs: 1, explanation, example });
    }
    Ok(())
}

impl TargetSetting<'_> {
    /// Differences between the effects of an input.
    pub(super) fn differences(&self, input: &Input, (a, b): &Effects) -> Vec<Difference> {
        let rules = matching::rules(self.contract, input.object_under_test());
        differences(a, b, input.object_under_test(), &rules)
    }

    /// The explanation of a difference.
    pub(super) fn explained(
        &self,
        webhook: &str,
        difference: &Difference,
        input: &Input,
        world: &World,
    ) -> Option<Explained> {
        self.shared.explainer.explained(
            SubjectName::Webhook(webhook),
            difference,
            &self.describe_input(input, world),
        )
    }

    /// The complete input as JSON.
    pub(super) fn describe_input(&self, input: &Input, world: &World) -> Value {
        input.to_json(self.instance, self.config, world)
    }
}
