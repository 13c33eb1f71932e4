//! From what was found to the report.

use contract::document::waivers::Waiver;
use contract::emitted::is_gardener;
use contract::model::{Clause, Contract, Location};

use super::{Checker, Found};
use crate::digest::digest;
use crate::matching;
use crate::observation::Observation;
use crate::render::plural;
use crate::report::{
    API_VERSION, CaseResult, ClauseResult, ContractResult, Proof, Reason, ReasonCode, Report, RunInfo,
    SelectionInfo, Status, SubstrateInfo, Together, Verdict, sums,
};
use crate::saboteur::{self, Recorded};
use crate::shard::{Shard, ShardInfo};
use crate::target::{Identity, TargetKind};

/// Breaches beyond those that are told one by one.
pub(super) const MORE: &str = "more";
const KEPT: &str = "as they should be";
const UNSURE: &str = "that a webhook may have changed";
const STATED: &str = "of which the contract says that Gardener differs";
/// What is told of objects together, in this order, before those where another clause is broken.
pub(super) const WHATS: [&str; 4] = [MORE, KEPT, UNSURE, STATED];

/// What is told of a check beside what was found.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// How it was called, when, and how long it took.
    pub run: RunInfo,
    /// `files` or `cluster`.
    pub place: String,
    /// What was read, in words.
    pub description: String,
    /// Which clauses were wanted: `clause=CP-020`.
    pub expression: Vec<String>,
    /// Waivers to apply.
    pub waivers: Vec<Waiver>,
    /// Which part of the namespaces was looked at.
    pub shard: Option<Shard>,
    /// What could not be read; says nothing about what was.
    pub broken: Vec<String>,
    /// The signal that ended it early.
    pub interrupted: Option<u8>,
}

impl Checker<'_> {
    /// Concludes.
    #[must_use]
    pub fn report(mut self, about: About) -> Report {
        let found = std::mem::take(&mut self.found);
        let mut contracts: Vec<ContractResult> =
            self.contracts.iter().map(|contract| self.contract(contract, &found, &about)).collect();
        let target = Identity {
            name: "gardener".to_owned(),
            version: self.gardener.clone(),
            kind: TargetKind::Objects,
            endpoint: about.description.clone(),
        };
        let today = about.run.started_at.get(..10).unwrap_or_default();
        let waivers = crate::waivers::apply(&about.waivers, &target.name, today, &mut contracts);
        contracts.iter_mut().for_each(ContractResult::conclude);
        let (counts, levels) = sums(&contracts);
        let over = Verdict::over(contracts.iter().map(|found| (found.verdict, found.clauses.as_slice())));
        let disturbed = !about.broken.is_empty() || about.interrupted.is_some();
        let verdict = if disturbed && over != Verdict::NonConformant { Verdict::Inconclusive } else { over };
        let mut report = Report {
            api_version: API_VERSION.to_owned(),
            kind: "ConformanceReport".to_owned(),
            run: about.run,
            target,
            substrate: SubstrateInfo {
                name: about.place,
                description: described(&about.description, self.namespaces),
                namespaces: "as they were read".to_owned(),
            },
            selection: self.selection(about.expression, about.shard),
            verdict,
            counts,
            levels,
            contracts,
            waivers,
            environment_errors: about.broken,
            left_behind: Vec::new(),
            interrupted: about.interrupted,
            exit_code: 0,
        };
        report.exit_code = report.exit_code();
        report
    }

    fn selection(&self, expression: Vec<String>, shard: Option<Shard>) -> SelectionInfo {
        let clauses = self.contracts.iter().flat_map(|contract| &contract.clauses);
        let (clauses, digest) = asked_of(clauses.map(|clause| (clause.id.as_str(), clause.hash.as_str())));
        // Every shard asks every clause, each of other namespaces.
        let shard = shard.map(|Shard { index, of }| {
            let digest = digest.clone();
            ShardInfo { index, of, clauses, cases: clauses, digest }
        });
        let namespaces = Some(self.namespaces);
        SelectionInfo { expression, clauses, cases: clauses, digest, namespaces, shard }
    }

    fn contract(
        &self,
        contract: &Contract,
        found: &std::collections::BTreeMap<&str, Found>,
        about: &About,
    ) -> ContractResult {
        let clause = |clause: &Clause| {
            let cases = self.cases(clause, found.get(clause.id.as_str()));
            let answered = cases.iter().any(|case| case.status.is_answer());
            ClauseResult::of(contract, clause, answered.then(|| proof(contract, clause)), cases)
        };
        let clauses = contract.clauses.iter().map(clause).collect();
        ContractResult::of(contract, clauses, about.run.duration_ms)
    }

    /// Each breach; what was kept, and what says nothing, in one case each.
    fn cases(&self, clause: &Clause, found: Option<&Found>) -> Vec<CaseResult> {
        let silent = |name: &str, status: Status, code: ReasonCode, text: String| {
            CaseResult::without_checks(name, &clause.location, status, Reason::new(code, text))
        };
        let Some(found) = found else {
            let (code, text) = match (self.applies(clause), &clause.versions) {
                (false, Some(range)) => {
                    let release = self.gardener.as_deref().unwrap_or("not told (--gardener)");
                    (ReasonCode::Version, format!("holds for Gardener {range}, the release is {release}"))
                }
                _ => (ReasonCode::Object, "nothing that it speaks of was there".to_owned()),
            };
            return vec![silent("nothing", Status::Skipped, code, text)];
        };
        let mut cases: Vec<CaseResult> = found.broken.values().cloned().collect();
        let mut add = |status: Status, number: usize, what: &str, reason: Option<Reason>| {
            if number > 0 {
                cases.push(CaseResult { reason, ..together(number, what, status, &clause.location) });
            }
        };
        add(Status::Failed, found.more, MORE, None);
        add(Status::Passed, found.kept, KEPT, None);
        let text = "webhooks have seen these objects, and one may have brought this about: ask what Gardener renders";
        let reason = Reason::new(ReasonCode::Object, text);
        add(Status::NotSupported, found.unsure, UNSURE, Some(reason));
        let why = clause.differs.iter().find(|(who, _)| is_gardener(who)).map_or("", |(_, why)| why.as_str());
        let reason = Reason::new(ReasonCode::Level, format!("Gardener differs, --strict asks: {why}"));
        add(Status::Skipped, found.stated, STATED, Some(reason));
        for (id, number) in &found.not_run {
            let reason = Reason::new(ReasonCode::Presupposed, format!("{id} is broken there"));
            add(Status::NotRun, *number, &format!("where {id} is broken"), Some(reason));
        }
        cases
    }
}

/// The clauses that are asked, and a digest over them: id and hash of each.
pub(super) fn asked_of<'a>(clauses: impl Iterator<Item = (&'a str, &'a str)>) -> (usize, String) {
    let text: Vec<String> = clauses.map(|(id, hash)| format!("{id} {hash}")).collect();
    (text.len(), digest(&text.join("\n")))
}

/// What was read, and how many namespaces that was.
pub(super) fn described(what: &str, namespaces: usize) -> String {
    format!("{what}, {}", plural(namespaces, "namespace"))
}

/// Objects that are told together, `12 objects as they should be`.
pub(super) fn together(objects: usize, what: &str, status: Status, location: &Location) -> CaseResult {
    let name = format!("{} {what}", plural(objects, "object"));
    let together = Some(Together { objects, what: what.to_owned() });
    let silent = CaseResult::without_checks(&name, location, status, Reason::new(ReasonCode::Ended, ""));
    CaseResult { together, reason: None, ..silent }
}

/// Whether the clause was shown able to fail, by the changes of its contract that break it.
fn proof(contract: &Contract, clause: &Clause) -> Proof {
    let seen: Vec<(Observation, matching::Rules)> = clause
        .cases
        .iter()
        .map(|case| {
            let seen = Observation::emitted(case);
            let rules = matching::rules_of(contract, &seen);
            (seen, rules)
        })
        .collect();
    let recorded: Vec<Recorded<'_>> =
        clause.cases.iter().zip(&seen).map(|(case, (seen, rules))| Recorded { case, seen, rules }).collect();
    let mut proof = saboteur::prove(&recorded);
    proof.noticed.clear();
    proof
}
