//! One group of cases: the target is started once, its cases are asked side by side, and it is stopped.

use std::sync::Arc;

use futures::StreamExt as _;
use substrate::cluster::Cluster;
use webhook::dial::Dialer;

use super::{Asked, FactsFrom, Ground, Shared, ended, unasked};
use crate::plan::{CaseRef, Group};
use crate::report::{Reason, ReasonCode, Status};
use crate::target::{Facts, Running, Setup, TargetError};

/// Cases of one group that are asked side by side.
const SIDE_BY_SIDE: usize = 16;

/// A started group.
pub(super) struct Started<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) group: &'a Group,
    pub(super) running: &'a dyn Running,
    pub(super) dialer: Arc<dyn Dialer>,
    /// Where facts are written.
    pub(super) facts: Option<Cluster>,
    /// Whether what was written must be removed again.
    pub(super) tidy: bool,
}

/// Asks the cases of a group; the second part says what broke around the target.
pub(super) async fn ask(shared: &Shared<'_>, group: &Group) -> (Vec<Asked>, Option<String>) {
    match &shared.options.ground {
        Ground::Direct(FactsFrom::Given(facts)) => start(shared, group, Some(facts.clone()), true).await,
        Ground::Direct(FactsFrom::Nowhere) => start(shared, group, None, false).await,
        Ground::Direct(FactsFrom::Embedded) => embedded(shared, group).await,
        Ground::Embedded | Ground::Envtest(_) | Ground::Whole(_) => super::server::ask(shared, group).await,
    }
}

async fn embedded(shared: &Shared<'_>, group: &Group) -> (Vec<Asked>, Option<String>) {
    match shared.target.needs().embedded(shared.target.is_outside(), None).await {
        Ok(server) => {
            let result = start(shared, group, Some(Facts::in_process(&server)), false).await;
            drop(server);
            result
        }
        Err(error) => broken(shared, &group.cases, &error.to_string()),
    }
}

async fn start(
    shared: &Shared<'_>,
    group: &Group,
    facts: Option<Facts>,
    tidy: bool,
) -> (Vec<Asked>, Option<String>) {
    let setup = Setup {
        component: &group.component,
        now: group.now,
        config: &group.config,
        instance: &group.instance,
        facts: facts.clone(),
        clusters: None,
    };
    let started = tokio::select! {
        started = shared.target.start(setup) => started,
        _ = shared.interrupt.wait() => return (unasked(shared, &group.cases, Status::NotRun, &ended(shared)), None),
    };
    let running = match started {
        Ok(running) => running,
        Err(error) => return broken(shared, &group.cases, &words(&error)),
    };
    let context = Started {
        shared,
        group,
        running: running.as_ref(),
        dialer: running.dialer(),
        facts: facts.map(|facts| Cluster::new(facts.client)),
        tidy,
    };
    // Cases that see each other's facts have a cluster of their own, unless there is only the given one.
    let one_by_one = (tidy && group.alone) || shared.options.fail_fast || shared.target.asks_in_turn();
    let side_by_side = if one_by_one { 1 } else { SIDE_BY_SIDE };
    let asked = each(&context, side_by_side).await;
    running.stop().await;
    (asked, None)
}

async fn each(context: &Started<'_>, side_by_side: usize) -> Vec<Asked> {
    let shared = context.shared;
    let cases = context.group.cases.iter().map(|at| async move {
        if shared.is_over() {
            return unasked(shared, &[*at], Status::NotRun, &ended(shared)).remove(0);
        }
        let mut asked = super::attempt::settle(context, *at).await;
        shared.done(&mut asked);
        asked
    });
    futures::stream::iter(cases).buffer_unordered(side_by_side).collect().await
}

/// Nothing of the group could be asked.
pub(super) fn broken(shared: &Shared<'_>, cases: &[CaseRef], error: &str) -> (Vec<Asked>, Option<String>) {
    let mut asked = unasked(shared, cases, Status::Errored, &Reason::new(ReasonCode::Environment, error));
    for asked in &mut asked {
        shared.done(asked);
    }
    (asked, Some(error.to_owned()))
}

fn words(error: &TargetError) -> String {
    error.to_string()
}
