//! `versions lint`: finds problems in CloudProfiles before they affect a Shoot.

use api::garden::shoot::ShootSpec;
use conformance::render::plural;
use serde_json::json;
use versions::profile::{Finding, Problem, findings};

use super::read;
use crate::arguments::{Format, LintVersionsArguments};
use crate::commands::layout::{hang, shoots};
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// A finding about a profile.
struct ProfileFinding<'a> {
    profile: &'a str,
    finding: Finding,
    /// How many shoots of the profile have the version.
    shoots: usize,
}

/// Prints the findings; returns 1 if there are any.
pub(super) fn lint(arguments: &LintVersionsArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let garden = read::read(&arguments.garden, terminal)?;
    let mut all: Vec<ProfileFinding<'_>> = Vec::new();
    for (name, profile) in &garden.profiles {
        let of_profile = garden.shoots.iter().map(|shoot| &shoot.spec);
        let own: Vec<&ShootSpec> = of_profile.filter(|spec| &spec.cloud_profile_name == name).collect();
        all.extend(findings(profile, &own).into_iter().map(|finding| {
            let shoots = finding.concerned(&own);
            ProfileFinding { profile: name, finding, shoots }
        }));
    }
    terminal.print(&match arguments.output {
        Format::Json => format!("{:#}", json!(all.iter().map(ProfileFinding::to_json).collect::<Vec<_>>())),
        Format::Text | Format::Markdown => {
            let with_shoots = !garden.shoots.is_empty();
            all.iter().map(|found| hang(&found.to_text(with_shoots), terminal.width, "")).collect()
        }
    });
    let profiles = plural(garden.profiles.len(), "CloudProfile");
    let ending = match all.len() {
        0 => Ending::new(0, format!("no findings in {profiles}")),
        many => Ending::new(1, format!("{} in {profiles}", plural(many, "finding"))),
    };
    Ok(ending.beside(arguments.output))
}

impl ProfileFinding<'_> {
    /// One sentence, and how many shoots are concerned if any were read.
    fn to_text(&self, with_shoots: bool) -> String {
        let says_so = matches!(self.finding.problem, Problem::RemovedInUse(_));
        let concerned = match self.shoots {
            _ if says_so || !with_shoots => String::new(),
            0 => "; no shoot has it".to_owned(),
            1 => "; 1 shoot has it".to_owned(),
            many => format!("; {} have it", shoots(many)),
        };
        format!("{}: {}{concerned}", self.profile, self.finding)
    }

    fn to_json(&self) -> serde_json::Value {
        json!({
            "cloudProfile": self.profile, "subject": self.finding.subject, "message": self.finding.to_string(),
            "shoots": self.shoots,
        })
    }
}
