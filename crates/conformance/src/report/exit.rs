//! The exit code, computed from the report so that the two cannot disagree.

use contract::model::Level;

use super::Report;
use super::result::{ClauseResult, Status, WaiverState};

/// Codes in the order in which they win.
const PRECEDENCE: [u8; 9] = [130, 143, 2, 1, 3, 7, 5, 6, 4];

/// The exit code of a command with several results: the code that wins over the others; 0 if there is none.
#[must_use]
pub fn worst_exit_code(codes: &[u8]) -> u8 {
    PRECEDENCE.into_iter().find(|code| codes.contains(code)).unwrap_or(0)
}

impl Report {
    /// 0 if all is well, else the first of 130, 143, 2, 1, 3, 7, 5, 6, 4 that applies; 6 only if the target is of this project.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        worst_exit_code(&self.codes())
    }

    /// Every code that applies, unordered.
    pub(crate) fn codes(&self) -> Vec<u8> {
        let mut codes = Vec::new();
        if let Some(signal) = self.interrupted {
            codes.push(128 + signal);
        }
        if self.is_broken() {
            codes.push(1);
        }
        if self.counts.errored > 0 || !self.environment_errors.is_empty() {
            codes.push(3);
        }
        if self
            .waivers
            .iter()
            .any(|waiver| matches!(waiver.state, WaiverState::Expired | WaiverState::UnexpectedPass))
        {
            codes.push(7);
        }
        if self.is_unproven() && !self.target.kind.is_foreign() {
            codes.push(6);
        }
        let answered =
            self.counts.passed + self.counts.failed + self.counts.waived + self.counts.unexpected_pass;
        if answered == 0 || self.counts.not_run > 0 || self.counts.vacuous > 0 {
            codes.push(4);
        }
        codes
    }

    /// Whether a MUST clause or a law was broken, or a change is unexplained.
    fn is_broken(&self) -> bool {
        let must = self.contracts.iter().flat_map(|contract| &contract.clauses);
        let failed =
            must.filter(|clause| clause.level == Level::Must).any(|clause| clause.status == Status::Failed);
        failed || self.counts.laws_broken > 0 || self.counts.unexplained > 0
    }

    /// Whether a passing MUST clause or a law is not proven, or there is a gap.
    fn is_unproven(&self) -> bool {
        let clauses = self.contracts.iter().flat_map(|contract| &contract.clauses);
        let unproven = clauses
            .filter(|clause| clause.level == Level::Must && clause.status == Status::Passed)
            .any(ClauseResult::is_unproven);
        let laws = self.contracts.iter().flat_map(|contract| &contract.laws);
        unproven || self.counts.gaps > 0 || laws.into_iter().any(|law| law.proven == Some(false))
    }
}
