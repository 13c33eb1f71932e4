//! Makes the report from the results of checked objects.

use contract::document::waivers::Waiver;
use contract::emitted::is_gardener;
use contract::model::{Clause, Contract, Location};

use super::{Checker, ClauseFindings};
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

/// Breaches that are not listed.
pub(super) const MORE: &str = "more";
const KEPT: &str = "as they should be";
const UNSURE: &str = "that a webhook may have changed";
const STATED: &str = "for which the contract declares that Gardener differs";
/// Summaries of objects, in this order, before objects for which a presupposed clause is broken.
pub(super) const SUMMARIES: [&str; 4] = [MORE, KEPT, UNSURE, STATED];

/// The metadata of a check.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Its command, start and duration.
    pub run: RunInfo,
    /// `files` or `cluster`.
    pub place: String,
    /// Human-readable description of the objects.
    pub description: String,
    /// The selection of clauses: `clause=CP-020`.
    pub expression: Vec<String>,
    /// Waivers to apply.
    pub waivers: Vec<Waiver>,
    /// The shard of namespaces that was checked.
    pub shard: Option<Shard>,
    /// Objects that could not be read.
    pub broken: Vec<String>,
    /// The signal that ended it early.
    pub interrupted: Option<u8>,
}

impl Checker<'_> {
    /// Makes the report.
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
                description: describe(&about.description, self.namespaces),
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
        let (clauses, digest) = digest_of(clauses.map(|clause| (clause.id.as_str(), clause.hash.as_str())));
        // Every shard checks all clauses, each in other namespaces.
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
        found: &std::collections::BTreeMap<&str, ClauseFindings>,
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

    /// One case for each breach, and one for each summary.
    fn cases(&self, clause: &Clause, found: Option<&ClauseFindings>) -> Vec<CaseResult> {
        let without_result = |name: &str, status: Status, code: ReasonCode, text: String| {
            CaseResult::without_checks(name, &clause.location, status, Reason::new(code, text))
        };
        let Some(found) = found else {
            let (code, text) = match (self.applies(clause), &clause.versions) {
                (false, Some(range)) => {
                    let release = self.gardener.as_deref().unwrap_or("unknown (--gardener)");
                    (ReasonCode::Version, format!("holds for Gardener {range}, the release is {release}"))
                }
                _ => (ReasonCode::Object, "no object of the clause was found".to_owned()),
            };
            return vec![without_result("nothing", Status::Skipped, code, text)];
        };
        let mut cases: Vec<CaseResult> = found.broken.values().cloned().collect();
        let mut add = |status: Status, number: usize, what: &str, reason: Option<Reason>| {
            if number > 0 {
                cases.push(CaseResult {
                    reason,
                    ..summary_of_objects(number, what, status, &clause.location)
                });
            }
        };
        add(Status::Failed, found.more, MORE, None);
        add(Status::Passed, found.kept, KEPT, None);
        let text = "webhooks have seen these objects, and one may have caused this: check the objects that Gardener renders";
        let reason = Reason::new(ReasonCode::Object, text);
        add(Status::NotSupported, found.unsure, UNSURE, Some(reason));
        let why = clause.differs.iter().find(|(who, _)| is_gardener(who)).map_or("", |(_, why)| why.as_str());
        let reason =
            Reason::new(ReasonCode::Level, format!("Gardener differs, checked only with --strict: {why}"));
        add(Status::Skipped, found.stated, STATED, Some(reason));
        for (id, number) in &found.not_run {
            let reason = Reason::presupposed(id, format!("{id} is broken there"));
            add(Status::NotRun, *number, &format!("where {id} is broken"), Some(reason));
        }
        cases
    }
}

/// The number of clauses, and a digest of their ids and hashes.
pub(super) fn digest_of<'a>(clauses: impl Iterator<Item = (&'a str, &'a str)>) -> (usize, String) {
    let text: Vec<String> = clauses.map(|(id, hash)| format!("{id} {hash}")).collect();
    (text.len(), digest(&text.join("\n")))
}

/// The description of the objects with the number of namespaces.
pub(super) fn describe(what: &str, namespaces: usize) -> String {
    format!("{what}, {}", plural(namespaces, "namespace"))
}

/// A summary of objects as one case: `12 objects as they should be`.
pub(super) fn summary_of_objects(
    objects: usize,
    what: &str,
    status: Status,
    location: &Location,
) -> CaseResult {
    let name = format!("{} {what}", plural(objects, "object"));
    let together = Some(Together { objects, what: what.to_owned() });
    let result = CaseResult::without_checks(&name, location, status, Reason::new(ReasonCode::Ended, ""));
    CaseResult { together, reason: None, ..result }
}

/// Proves a clause by the changes in its contract that must break it.
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
