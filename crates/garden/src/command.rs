//! The command line.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use controller::clock::Clock;
use controller::command::{self, Program};
use controller::manager::ManagerError;
use controller::webhooks::component::{Component, Flags};
use controller::webhooks::print::{Print, PrintError};
use webhook::registration::WebhookConfiguration;

use crate::{registrations, serving};

const PROGRAM: Program = Program { name: registrations::NAME, version: env!("CARGO_PKG_VERSION") };
const COMPONENT: Component = Component { program: PROGRAM, cluster: "garden" };

/// Admits the objects of a garden that serves Gardener's kinds as custom resources.
#[derive(Debug, Parser)]
#[command(name = PROGRAM.name, version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    flags: Flags,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show how the webhooks are registered.
    Webhooks(Print),
}

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error("{0}")]
    Run(#[from] ManagerError),
    #[error("{0}")]
    Print(#[from] PrintError),
}

/// Runs the command; errors are printed on standard output and exit with 1.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    command::main(arguments, |arguments: Arguments| execute(&arguments))
}

fn execute(arguments: &Arguments) -> Result<(), CommandError> {
    if let Some(Command::Webhooks(print)) = &arguments.command {
        let made = |authorities: Option<&str>| {
            let configurations = registrations::registrations(authorities);
            configurations.iter().map(WebhookConfiguration::to_object).collect()
        };
        return Ok(print.documents(made)?);
    }
    let made = |client, clock: Clock| serving::webhooks(client, Arc::new(move || clock.now()));
    Ok(COMPONENT.run(&arguments.flags, &[], made)?)
}
