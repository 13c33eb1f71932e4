//! Errors of starting and reaching a target.

/// Why a target could not be started or reached; an environment error, never a broken clause.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A target file or argument is wrong.
    #[error("failed to read target {what}: {reason}")]
    Description {
        /// File or argument.
        what: String,
        /// What is wrong.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("failed to {step} {path}: {source}")]
    File {
        /// `read`, `write`, `create`.
        step: &'static str,
        /// Which.
        path: String,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The process could not be started.
    #[error("failed to start {command}: {source}")]
    Spawn {
        /// First word of the command line.
        command: String,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The process ended before it was ready.
    #[error("{command} ended before it was ready ({status}){}", tail(.last_output))]
    Ended {
        /// First word of the command line.
        command: String,
        /// Exit status.
        status: String,
        /// End of its standard error.
        last_output: String,
    },
    /// The process did not get ready in time.
    #[error("{command} was not ready at {ready} within {seconds} s{}{}", remark(.hint), tail(.last_output))]
    NotReady {
        /// First word of the command line.
        command: String,
        /// The probed address.
        ready: String,
        /// The timeout.
        seconds: u64,
        /// A possible reason; empty if unknown.
        hint: &'static str,
        /// End of its standard error.
        last_output: String,
    },
    /// There is no container: no engine, no such image, or the engine cannot start it.
    #[error("failed to create a container of {image}: {message}")]
    Container {
        /// The image.
        image: String,
        /// The engine's message, and what to do.
        message: String,
    },
    /// A container cannot reach an API server on this machine.
    #[error("failed to connect the container to {address}: {reason}")]
    NotRoutable {
        /// The API server.
        address: String,
        /// What is wrong.
        reason: String,
    },
    /// A built-in target refused its configuration.
    #[error("failed to configure {name}: {reason}")]
    Configuration {
        /// The component.
        name: String,
        /// Its message.
        reason: String,
    },
    /// A certificate could not be created or read.
    #[error("failed to prepare certificates: {reason}")]
    Certificate {
        /// What is wrong.
        reason: String,
    },
    /// A garden cannot be reached, is not a garden, or refuses objects that every Shoot needs.
    #[error("could not use the garden: {reason}")]
    Garden {
        /// What is wrong.
        reason: String,
    },
    /// Nothing answers at the address, or it is not trusted.
    #[error("could not reach the target: {source}")]
    Unreachable {
        /// The dialer's error.
        source: webhook::dial::DialError,
    },
}

fn remark(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(" ({hint})") }
}

fn tail(last_output: &str) -> String {
    if last_output.is_empty() { String::new() } else { format!("; its last output:\n{last_output}") }
}
