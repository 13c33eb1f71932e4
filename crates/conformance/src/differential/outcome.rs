//! The outcome of a differential run: counts, groups of differences, and their explanations.

use std::collections::BTreeMap;

use contract::model::Contract;
use serde::Serialize;
use serde_json::Value;

use super::effect::{Difference, Effect};
use crate::target::{Configurable, Identity, Target};

/// The outcome of a differential run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The first target.
    pub a: Identity,
    /// The second target.
    pub b: Identity,
    /// The seed of the inputs.
    pub seed: u64,
    /// Requested number of inputs for each webhook, worlds for each controller.
    pub objects: usize,
    /// Results by webhook.
    pub webhooks: Vec<SubjectOutcome>,
    /// Results by controller.
    pub controllers: Vec<SubjectOutcome>,
    /// Explanations of these webhooks and controllers that explained nothing: `file:line`.
    pub idle_explanations: Vec<String>,
    /// Environment errors.
    pub environment_errors: Vec<String>,
    /// The command that repeats the run, without flags that select webhooks and controllers; absent outside of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The signal that ended the run early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<u8>,
}

/// A tested webhook or controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    /// A webhook, by its name.
    Webhook(String),
    /// A controller, by the name of its contract.
    Controller(String),
}

/// The results for one webhook or controller.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubjectOutcome {
    /// `webhook: <name>` or `controller: <name>`.
    #[serde(flatten)]
    pub subject: Subject,
    /// The contract from whose cases the inputs were generated.
    pub contract: String,
    /// Which targets run with the configuration of the inputs: `a`, `b`; the others do not read it.
    pub configuration_read_by: Vec<&'static str>,
    /// Inputs whose answers, or failures to answer, were compared.
    pub compared: usize,
    /// Inputs that one or both of them do not serve.
    pub not_served: usize,
    /// Inputs whose answers differ.
    pub differing: usize,
    /// Effects on the first target, and how often each occurred: `unchanged`, `patched`, `allowed`, `refused 422`, `no answer`.
    pub effects: BTreeMap<String, usize>,
    /// Why nothing was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent: Option<String>,
    /// Differences, by place and explanation.
    pub groups: Vec<Group>,
}

/// Differences at one place with the same explanation, or without one.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// `object.spec.tolerations[]`, `message`.
    pub place: String,
    /// Inputs that differ here.
    pub inputs: usize,
    /// Why; absent if unexplained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explained>,
    /// One of them; an unexplained one is shrunk.
    pub example: Example,
}

/// Why answers differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// The reason.
    pub reason: String,
    /// The clause that states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// `file:line` of the explanation.
    pub at: String,
}

/// One input and its two effects.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Example {
    /// The exact place: `object.spec.units[name=kubelet.service].content`.
    pub at: String,
    /// The value in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The value in the first target's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Value>,
    /// The value in the second target's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Value>,
    /// The complete input.
    pub given: Value,
}

impl Outcome {
    /// Without results.
    pub(super) fn of((a, b): (Identity, Identity), seed: u64, objects: usize) -> Self {
        let (webhooks, controllers) = (Vec::new(), Vec::new());
        let (idle_explanations, environment_errors) = (Vec::new(), Vec::new());
        Self {
            a,
            b,
            seed,
            objects,
            webhooks,
            controllers,
            idle_explanations,
            environment_errors,
            command: None,
            interrupted: None,
        }
    }

    /// Adds the results of another run of the same targets.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.webhooks.extend(other.webhooks);
        self.controllers.extend(other.controllers);
        self.idle_explanations.extend(other.idle_explanations);
        self.environment_errors.extend(other.environment_errors);
        self.interrupted = self.interrupted.or(other.interrupted);
        self
    }

    /// 0: every difference is explained; 3: the environment broke; 5: a difference is not explained; 4: a webhook was not
    /// compared; 130 and 143: interrupted. If several apply, the first of 130 and 143, 3, 5, 4.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.interrupted {
            Some(signal) => 128 + signal,
            None if !self.environment_errors.is_empty() => 3,
            None if self.unexplained() > 0 => 5,
            None if self.found().next().is_none() || self.found().any(|found| found.compared == 0) => 4,
            None => 0,
        }
    }

    /// Why it ends with its exit code, in words.
    #[must_use]
    pub fn cause(&self) -> String {
        match (self.interrupted, self.unexplained()) {
            (Some(2), _) => "interrupted by SIGINT".to_owned(),
            (Some(_), _) => "interrupted by SIGTERM".to_owned(),
            (None, _) if !self.environment_errors.is_empty() => {
                let first = self.environment_errors.first().map_or("", String::as_str);
                format!("the environment failed: {first}")
            }
            (None, 1) => "1 difference has no explanation".to_owned(),
            (None, several @ 2..) => format!("{several} differences have no explanation"),
            (None, 0) if self.exit_code() == 4 => "a webhook or controller was not compared".to_owned(),
            (None, 0) => "every difference has an explanation".to_owned(),
        }
    }

    /// Number of unexplained groups.
    #[must_use]
    pub fn unexplained(&self) -> usize {
        self.found().flat_map(|found| &found.groups).filter(|group| group.explanation.is_none()).count()
    }

    /// Results of webhooks, then of controllers.
    pub fn found(&self) -> impl Iterator<Item = &SubjectOutcome> {
        self.webhooks.iter().chain(&self.controllers)
    }
}

impl Subject {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Webhook(name) | Self::Controller(name) => name,
        }
    }
}

impl SubjectOutcome {
    /// Without results.
    pub(super) fn of(subject: Subject, contract: &Contract, targets: (&dyn Target, &dyn Target)) -> Self {
        let component = &contract.component;
        let reads = |target: &dyn Target| target.configurable(component) != Configurable::Unknown;
        let readers = [("a", targets.0), ("b", targets.1)].into_iter();
        Self {
            subject,
            contract: contract.name.clone(),
            configuration_read_by: readers
                .filter_map(|(name, target)| reads(target).then_some(name))
                .collect(),
            compared: 0,
            not_served: 0,
            differing: 0,
            effects: BTreeMap::new(),
            silent: None,
            groups: Vec::new(),
        }
    }

    /// Counts an input by its effect on the first target.
    pub(super) fn count(&mut self, effect: &Effect) {
        let word = match &effect.answer {
            Err(_) => "no answer".to_owned(),
            Ok(answer) if !answer.allowed => {
                format!("refused {}", answer.code.map_or_else(String::new, |code| code.to_string()))
                    .trim()
                    .to_owned()
            }
            Ok(answer) if answer.patched => "patched".to_owned(),
            Ok(answer) if answer.object.is_some() => "unchanged".to_owned(),
            Ok(_) => "allowed".to_owned(),
        };
        self.compared += 1;
        *self.effects.entry(word).or_default() += 1;
    }

    /// The existing group of a difference.
    pub(super) fn group(&mut self, place: &str, explanation: Option<&Explained>) -> Option<&mut Group> {
        self.groups.iter_mut().find(|group| group.place == place && group.explanation.as_ref() == explanation)
    }
}

impl Example {
    /// The effects of an input at one place.
    pub(super) fn new(difference: &Difference, given: Value) -> Self {
        let Difference { place, input, a, b } = difference.clone();
        Self { at: place.to_string(), input, a, b, given }
    }
}
