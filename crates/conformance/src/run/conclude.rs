//! From what was asked to the report: clauses, proofs, laws, gaps, unexplained mutations, waivers, verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::PoisonError;
use std::time::Duration;

use contract::case::About;
use contract::model::{Clause, Contract, Law};
use sha2::{Digest as _, Sha256};
use substrate::envtest::CLUSTER;

use super::{Asked, FactsFrom, Ground, Shared};
use crate::laws::{self, Held};
use crate::matching::{self, Rules};
use crate::observation::shown;
use crate::plan;
use crate::report::{
    API_VERSION, CaseResult, ClauseResult, ContractResult, Counts, LawBreach, LawResult, Proof, Reason,
    ReasonCode, Report, RunInfo, SelectionInfo, Status, SubstrateInfo, Unexplained, Verdict,
};
use crate::saboteur::{self, Recorded};

/// Concludes.
pub(super) fn report(shared: &Shared<'_>, asked: Vec<Asked>, broken: Vec<String>, took: Duration) -> Report {
    let mut by_contract: BTreeMap<usize, Vec<Asked>> = BTreeMap::new();
    for asked in asked {
        by_contract.entry(asked.at.contract).or_default().push(asked);
    }
    for asked in by_contract.values_mut() {
        unserved(asked);
    }
    let extras = shared.target.extras();
    let mut contracts: Vec<ContractResult> = shared
        .contracts
        .iter()
        .enumerate()
        .map(|(at, found)| contract(found, &by_contract.remove(&at).unwrap_or_default(), &extras))
        .collect();
    let options = shared.options;
    let target = shared.target.identity();
    let today = options.started_at.get(..10).unwrap_or_default();
    let waivers = crate::waivers::apply(&options.waivers, &target.name, today, &mut contracts);
    // A failure that is accepted takes nothing with it.
    presupposed(shared.contracts, &mut contracts);
    contracts.iter_mut().for_each(ContractResult::conclude);
    let (counts, levels) = crate::report::sums(&contracts);
    let verdict = verdict(&contracts, &broken, shared.interrupt.raised());
    let mut report = Report {
        api_version: API_VERSION.to_owned(),
        kind: "ConformanceReport".to_owned(),
        run: run_info(shared, took),
        target,
        substrate: substrate(shared),
        selection: selection(shared),
        verdict,
        counts,
        levels,
        contracts,
        waivers,
        environment_errors: broken,
        left_behind: shared.left.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect(),
        interrupted: shared.interrupt.raised(),
        exit_code: 0,
    };
    report.exit_code = report.exit_code();
    report
}

fn verdict(contracts: &[ContractResult], broken: &[String], interrupted: Option<u8>) -> Verdict {
    let over = Verdict::over(contracts.iter().map(|found| (found.verdict, found.clauses.as_slice())));
    let disturbed = !broken.is_empty() || interrupted.is_some();
    if disturbed && over != Verdict::NonConformant { Verdict::Inconclusive } else { over }
}

fn contract(contract: &Contract, asked: &[Asked], extras: &[String]) -> ContractResult {
    let by_clause = |at: usize| asked.iter().filter(move |asked| asked.at.clause == at).collect::<Vec<_>>();
    let clauses: Vec<ClauseResult> = contract
        .clauses
        .iter()
        .enumerate()
        .map(|(at, found)| clause(contract, found, &by_clause(at)))
        .collect();
    let hashes: Vec<&str> = contract.clauses.iter().map(|clause| clause.hash.as_str()).collect();
    ContractResult {
        name: contract.name.clone(),
        component: contract.component.clone(),
        digest: digest(&hashes.join("\n")),
        verdict: Verdict::Inconclusive,
        counts: Counts::default(),
        duration_ms: asked.iter().map(took).fold(0.0, |sum, took| sum + took),
        clauses,
        laws: laws_of(contract, asked),
        gaps: gaps(contract, asked),
        unexplained: unexplained(contract, asked, extras),
    }
}

/// Milliseconds that a case's exchanges took; a scenario's, from the start of its clusters to its end.
fn took(asked: &Asked) -> f64 {
    let exchanges = asked.trace.as_ref().map(|trace| {
        trace.earlier.iter().chain([trace]).flat_map(laws::Trace::all).map(|exchange| exchange.took).sum()
    });
    exchanges.map_or(asked.result.duration_ms, super::attempt::milliseconds)
}

/// A case that was not to be sent says nothing about a webhook that is not there.
fn unserved(asked: &mut [Asked]) {
    let reason = asked
        .iter()
        .find_map(|asked| asked.result.reason.clone().filter(|reason| reason.code == ReasonCode::NotServed));
    let Some(reason) = reason.filter(|_| asked.iter().all(|asked| asked.trace.is_none())) else { return };
    for asked in asked.iter_mut().filter(|asked| asked.result.status == Status::Passed) {
        let (name, location) = (asked.result.name.clone(), asked.result.location.clone());
        asked.result = CaseResult::silent(&name, &location, Status::NotSupported, reason.clone());
        asked.observation = None;
    }
}

fn clause(contract: &Contract, clause: &Clause, asked: &[&Asked]) -> ClauseResult {
    let cases: Vec<CaseResult> = asked.iter().map(|asked| asked.result.clone()).collect();
    let rules: Vec<Rules> = asked.iter().map(|asked| rules(contract, asked)).collect();
    let recorded: Vec<Recorded<'_>> = asked
        .iter()
        .zip(&rules)
        .filter(|(asked, _)| asked.result.status == Status::Passed)
        .filter_map(|(asked, rules)| {
            let seen = asked.observation.as_ref()?;
            Some(Recorded { case: &clause.cases[asked.at.case], seen, rules })
        })
        .collect();
    ClauseResult {
        id: clause.id.clone(),
        text: clause.text.clone(),
        level: clause.level,
        status: ClauseResult::conclude(&cases),
        hash: clause.hash.clone(),
        source: clause.source.clone().or_else(|| contract.source.clone()),
        location: clause.location.clone(),
        proof: proof(&recorded, asked),
        cases,
    }
}

/// Admission is proven from its recorded answers, a scenario by itself.
fn proof(recorded: &[Recorded<'_>], asked: &[&Asked]) -> Option<Proof> {
    let scenarios = asked.iter().filter_map(|asked| asked.proof.clone());
    let joined = scenarios.reduce(Proof::and);
    joined.or_else(|| (!recorded.is_empty()).then(|| saboteur::prove(recorded)))
}

fn rules(contract: &Contract, asked: &Asked) -> Rules {
    let none = || matching::rules(contract, None);
    asked.observation.as_ref().map_or_else(none, |seen| matching::rules_of(contract, seen))
}

fn laws_of(contract: &Contract, asked: &[Asked]) -> Vec<LawResult> {
    let traced: Vec<_> = asked
        .iter()
        .filter_map(|asked| Some((asked, asked.trace.as_ref()?, rules(contract, asked))))
        .collect();
    let held: Vec<BTreeMap<Law, Held>> =
        traced.iter().map(|(_, trace, rules)| laws::judge(trace, rules)).collect();
    let mut proofs: BTreeMap<Law, bool> = BTreeMap::new();
    for (_, trace, rules) in &traced {
        // Once per contract is enough.
        if laws::ALL.iter().any(|law| !proofs.contains_key(law)) {
            for (law, caught) in laws::prove(trace, rules) {
                proofs.entry(law).or_insert(caught);
            }
        }
    }
    let result = |law: Law| {
        let exempt = contract.exempt.get(&law).cloned();
        let broken = traced.iter().zip(&held).filter_map(|((asked, ..), held)| match held.get(&law) {
            Some(Held::No(text)) if exempt.is_none() => {
                let case = format!("{}/{}", contract.clauses[asked.at.clause].id, asked.result.name);
                Some(LawBreach { case, text: text.clone() })
            }
            _ => None,
        });
        LawResult {
            law,
            broken: broken.collect(),
            held: held.iter().filter(|held| held.get(&law) == Some(&Held::Yes)).count(),
            proven: proofs.get(&law).copied().filter(|_| exempt.is_none()),
            exempt,
        }
    };
    laws::ALL.into_iter().map(result).collect()
}

fn gaps(contract: &Contract, asked: &[Asked]) -> Vec<crate::report::Gap> {
    let mut losses = Vec::new();
    for asked in asked.iter().filter(|asked| asked.result.status == Status::Passed) {
        let Some(seen) = &asked.observation else { continue };
        let clause = &contract.clauses[asked.at.clause];
        let case = &clause.cases[asked.at.case];
        let rules = rules(contract, asked);
        let id = format!("{}/{}", clause.id, case.name);
        losses.extend(saboteur::losses(contract, &id, Recorded { case, seen, rules: &rules }));
    }
    saboteur::gaps(&losses)
}

/// Changes outside `onlyTouches` that the target does not declare.
fn unexplained(contract: &Contract, asked: &[Asked], extras: &[String]) -> Vec<Unexplained> {
    if contract.only_touches.is_empty() {
        return Vec::new();
    }
    let mut found: BTreeMap<String, Unexplained> = BTreeMap::new();
    let answered =
        |asked: &&Asked| contract.clauses[asked.at.clause].cases[asked.at.case].then.about == About::Answer;
    for asked in asked.iter().filter(answered) {
        let Some(seen) = asked.observation.as_ref().filter(|seen| seen.answer.object.is_some()) else {
            continue;
        };
        let rules = rules(contract, asked);
        for path in matching::changes(seen.input.as_ref(), seen.answer.object.as_ref(), &rules) {
            if matching::touches(&contract.only_touches, &path) || is_extra(extras, &path) {
                continue;
            }
            let became = seen.answer.object.as_ref().and_then(|object| matching::get(object, &path));
            let case = format!("{}/{}", contract.clauses[asked.at.clause].id, asked.result.name);
            let path = path.to_string();
            let fresh = || Unexplained {
                path: path.clone(),
                became: shown(seen.answer.object.as_ref(), &path, became.as_ref()),
                cases: Vec::new(),
            };
            found.entry(path.clone()).or_insert_with(fresh).cases.push(case);
        }
    }
    found.into_values().collect()
}

fn is_extra(extras: &[String], path: &contract::expect::Path) -> bool {
    !extras.is_empty() && matching::touches(extras, path)
}

/// A clause whose presupposed clause failed says nothing, nor does one that presupposes such a clause.
fn presupposed(contracts: &[Contract], results: &mut [ContractResult]) {
    let silenced = silenced(contracts, results);
    let asked = |clause: &&mut ClauseResult| !matches!(clause.status, Status::Skipped | Status::NotSupported);
    for result in results.iter_mut().flat_map(|contract| &mut contract.clauses).filter(asked) {
        let Some(broken) = silenced.get(&result.id) else { continue };
        let became = if silenced.contains_key(broken) { "was not run" } else { "failed" };
        let reason = Reason::new(ReasonCode::Presupposed, format!("presupposes {broken}, which {became}"));
        for case in &mut result.cases {
            *case = CaseResult::silent(&case.name, &case.location, Status::NotRun, reason.clone());
        }
        result.status = Status::NotRun;
        result.proof = None;
    }
}

/// Clauses that say nothing, each with the presupposed one that is why.
fn silenced(contracts: &[Contract], results: &[ContractResult]) -> BTreeMap<String, String> {
    let clauses: Vec<&Clause> = contracts.iter().flat_map(|contract| &contract.clauses).collect();
    let results = results.iter().flat_map(|contract| &contract.clauses);
    let failed: BTreeSet<&str> =
        results.filter(|clause| clause.status == Status::Failed).map(|clause| clause.id.as_str()).collect();
    let mut silenced: BTreeMap<String, String> = BTreeMap::new();
    // One round for each clause of the longest chain.
    for _ in 0..clauses.len() {
        let known = silenced.len();
        for clause in &clauses {
            let broken = clause
                .presupposes
                .iter()
                .find(|id| failed.contains(id.as_str()) || silenced.contains_key(*id))
                .cloned();
            if let Some(broken) = broken {
                silenced.entry(clause.id.clone()).or_insert(broken);
            }
        }
        if silenced.len() == known {
            break;
        }
    }
    silenced
}

fn run_info(shared: &Shared<'_>, took: Duration) -> RunInfo {
    let options = shared.options;
    RunInfo {
        version: options.version.clone(),
        started_at: options.started_at.clone(),
        duration_ms: (took.as_secs_f64() * 1e6).round() / 1e3,
        seed: options.seed,
        repeat: options.repeat,
        parallel: options.parallel,
        fail_fast: options.fail_fast,
        command: options.command.clone(),
    }
}

fn substrate(shared: &Shared<'_>) -> SubstrateInfo {
    let real;
    let (name, description) = match &shared.options.ground {
        Ground::Embedded => ("embedded", "embedded API server (Kubernetes 1.36 API)"),
        Ground::Envtest(server) => {
            let version = &server.cluster(CLUSTER).version;
            let took = server.took().as_secs_f64();
            real = format!("kube-apiserver {version} and etcd, ready in {took:.1} s");
            ("envtest", real.as_str())
        }
        Ground::Direct(FactsFrom::Embedded) => {
            ("direct", "AdmissionReviews straight to the target; facts in an embedded API server")
        }
        Ground::Direct(FactsFrom::Given(_)) => {
            ("direct", "AdmissionReviews straight to the target; facts in the cluster of --kubeconfig")
        }
        Ground::Direct(FactsFrom::Nowhere) => {
            ("direct", "AdmissionReviews straight to the target; no cluster for facts")
        }
    };
    let namespaces =
        "each case in a namespace of its own (case-…), unless it speaks of its namespace by name";
    SubstrateInfo {
        name: name.to_owned(),
        description: description.to_owned(),
        namespaces: namespaces.to_owned(),
    }
}

fn selection(shared: &Shared<'_>) -> SelectionInfo {
    let mut text = String::new();
    let mut cases = 0;
    for at in plan::all(shared.contracts) {
        let looked = plan::look(shared.contracts, at);
        text.extend([looked.id().as_str(), " ", &looked.clause.hash, "\n"]);
        cases += 1;
    }
    SelectionInfo {
        expression: shared.options.expression.clone(),
        clauses: shared.contracts.iter().map(|contract| contract.clauses.len()).sum(),
        cases,
        digest: digest(&text),
    }
}

pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to memory does not fail");
        hex
    })
}
