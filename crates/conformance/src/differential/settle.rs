//! Asking again: until informers have caught up, and with ever smaller inputs and worlds.

use std::time::{Duration, Instant};

use substrate::cluster::Cluster;

use super::Setting;
use super::ask::Pair;
use super::effect::Difference;
use super::group::Effects;
use super::input::{Input, World};
use super::outcome::Example;
use super::shrink;
use super::world::Standing;

/// First pause before an input is asked again; doubled each time, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(320);
/// So many smaller inputs are tried.
const TRIES: usize = 1500;

/// What both make of an input once they do not differ any more, or all that differs is explained or known already to be
/// without an explanation, or time is up.
pub(super) async fn settled(
    setting: &Setting<'_>,
    pair: &Pair<'_>,
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
        let Some(again) = pair.ask(input, world).await? else { break };
        effects = again;
    }
    Ok(effects)
}

/// The smallest input that still differs at the place, for no reason that is known, in the smallest world.
pub(super) async fn shrunk(
    setting: &Setting<'_>,
    pair: &Pair<'_>,
    cluster: &Cluster,
    (standing, input): (&mut Standing, &Input),
    difference: Difference,
) -> Result<Example, String> {
    let (mut kept, mut at_place) = (input.clone(), difference);
    let place = Place { setting, pair, group: at_place.group() };
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
        match place.differs(candidate, &standing.world).await? {
            Some(found) => (kept, at_place, is_changed) = (candidate.clone(), found, true),
            None => next += 1,
        }
    }
    if let Some(found) = place.without_facts(&kept, standing, cluster).await? {
        at_place = found;
    }
    Ok(Example::new(&at_place, setting.told(&kept, &standing.world)))
}

/// Where the answers of a pair differ.
struct Place<'a> {
    setting: &'a Setting<'a>,
    pair: &'a Pair<'a>,
    /// The name that all its differences share.
    group: String,
}

impl Place<'_> {
    /// The difference here, if there is one that nothing explains.
    async fn differs(&self, input: &Input, world: &World) -> Result<Option<Difference>, String> {
        let Some(effects) = self.pair.ask(input, world).await? else { return Ok(None) };
        let mut differences = self.setting.differences(input, &effects).into_iter();
        let explained =
            |difference: &Difference| self.setting.explained(self.pair.webhook, difference, input, world);
        Ok(differences.find(|difference| difference.group() == self.group && explained(difference).is_none()))
    }

    /// The difference here, if it outlasts the time that informers have.
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

    /// Takes away the facts without which the input differs all the same; the last difference seen, if any went.
    async fn without_facts(
        &self,
        input: &Input,
        standing: &mut Standing,
        cluster: &Cluster,
    ) -> Result<Option<Difference>, String> {
        let broken = |error: substrate::cluster::ClusterError| error.to_string();
        let mut last = None;
        for at in (0..standing.world.cluster.len()).rev() {
            let fact = standing.take(cluster, at).await.map_err(broken)?;
            match self.still_differs(input, &standing.world).await? {
                Some(found) => last = Some(found),
                None => standing.put_back(cluster, at, fact).await.map_err(broken)?,
            }
        }
        Ok(last)
    }
}
