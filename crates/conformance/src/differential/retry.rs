//! Sends inputs again: until informers have caught up, and shrunk, in smaller worlds.

use std::time::{Duration, Instant};

use substrate::cluster::{Cluster, ClusterError};

use super::TargetSetting;
use super::effect::{Difference, Effects};
use super::input::{Input, World};
use super::outcome::Example;
use super::shrink;
use super::target_pair::TargetPair;
use super::world::WrittenWorld;

/// First pause before an input is retried; doubled each time, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(320);
/// Maximum number of smaller inputs that are tried.
const TRIES: usize = 1500;

/// Retries an input until all differences are explained or in groups that are already `known` as unexplained, or until a timeout;
/// returns the last effects.
pub(super) async fn retry_while_unexplained(
    setting: &TargetSetting<'_>,
    pair: &TargetPair<'_>,
    world: &World,
    (input, mut effects): (&Input, Effects),
    known: &[String],
) -> Result<Effects, String> {
    let deadline = Instant::now() + setting.shared.options.settle;
    let mut pause = FIRST_PAUSE;
    let is_open = |effects: &Effects| {
        let differences = setting.differences(input, effects);
        let mut new = differences.iter().filter(|difference| !known.contains(&difference.group()));
        new.any(|difference| setting.explained(pair.webhook, difference, input, world).is_none())
    };
    while is_open(&effects) && Instant::now() + pause <= deadline {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        let Some(again) = pair.send(input, world).await? else { break };
        effects = again;
    }
    Ok(effects)
}

/// Shrinks the input and the world as long as there is an unexplained difference at the same place.
pub(super) async fn shrink(
    setting: &TargetSetting<'_>,
    pair: &TargetPair<'_>,
    cluster: &Cluster,
    (written_world, input): (&mut WrittenWorld, &Input),
    difference: Difference,
) -> Result<Example, String> {
    let (mut kept, mut at_place) = (input.clone(), difference);
    let place = DifferencePlace { setting, pair, group: at_place.group() };
    let (mut next, mut tries, mut is_changed) = (0, 0, false);
    while tries < TRIES {
        let candidates = shrink::smaller(&kept);
        let Some(candidate) = candidates.get(next) else {
            if !is_changed {
                break;
            }
            (next, is_changed) = (0, false);
            continue;
        };
        tries += 1;
        match place.differs(candidate, &written_world.world).await? {
            Some(found) => (kept, at_place, is_changed) = (candidate.clone(), found, true),
            None => next += 1,
        }
    }
    let (found, world) = place.in_smallest_world(&kept, written_world, cluster).await?;
    let at_place = found.unwrap_or(at_place);
    Ok(Example::new(&at_place, setting.describe_input(&kept, &world)))
}

/// A place at which the answers of two targets differ.
struct DifferencePlace<'a> {
    setting: &'a TargetSetting<'a>,
    pair: &'a TargetPair<'a>,
    /// The group of its differences.
    group: String,
}

impl DifferencePlace<'_> {
    /// The unexplained difference at this place, if there is one.
    async fn differs(&self, input: &Input, world: &World) -> Result<Option<Difference>, String> {
        let Some(effects) = self.pair.send(input, world).await? else { return Ok(None) };
        let mut differences = self.setting.differences(input, &effects).into_iter();
        let explained =
            |difference: &Difference| self.setting.explained(self.pair.webhook, difference, input, world);
        Ok(differences.find(|difference| difference.group() == self.group && explained(difference).is_none()))
    }

    /// The unexplained difference at this place, if it remains after informers had time to catch up.
    async fn still_differs(&self, input: &Input, world: &World) -> Result<Option<Difference>, String> {
        let deadline = Instant::now() + self.setting.shared.options.settle;
        loop {
            let found = self.differs(input, world).await?;
            if found.is_none() || Instant::now() > deadline {
                return Ok(found);
            }
            tokio::time::sleep(LONGEST_PAUSE / 4).await;
        }
    }

    /// The smallest world in which the difference remains, without facts, labels and annotations that it does not need, and the
    /// difference there, if the world is smaller. The world is whole again afterwards: later inputs need it.
    async fn in_smallest_world(
        &self,
        input: &Input,
        written_world: &mut WrittenWorld,
        cluster: &Cluster,
    ) -> Result<(Option<Difference>, World), String> {
        let broken = |error: ClusterError| error.to_string();
        let (mut last, mut removed) = (None, Vec::new());
        for at in (0..written_world.world.cluster.len()).rev() {
            let fact = written_world.take(cluster, at).await.map_err(broken)?;
            match self.still_differs(input, &written_world.world).await? {
                Some(found) => {
                    last = Some(found);
                    removed.push((at, fact));
                }
                None => written_world.put_back(cluster, at, fact).await.map_err(broken)?,
            }
        }
        let mut namespace = written_world.strip_namespace(cluster).await.map_err(broken)?;
        if let Some(object) = namespace.take() {
            match self.still_differs(input, &written_world.world).await? {
                Some(found) => (last, namespace) = (Some(found), Some(object)),
                None => written_world.dress_namespace(cluster, object).await.map_err(broken)?,
            }
        }
        let smallest = written_world.world.clone();
        if let Some(object) = namespace {
            written_world.dress_namespace(cluster, object).await.map_err(broken)?;
        }
        for (at, fact) in removed.into_iter().rev() {
            written_world.put_back(cluster, at, fact).await.map_err(broken)?;
        }
        Ok((last, smallest))
    }
}
