//! What a case of the form process does with the target's program.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// What is done with a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProcessAction {
    /// The program is started with these arguments and runs to its end.
    Run(Vec<String>),
    /// The program is started as the target describes it; once it is ready, one of its servers receives a request.
    Request(ServerRequest),
    /// The program is started as the target describes it; once it is ready, it receives this signal.
    Signal(ProcessSignal),
}

/// A request to a server of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerRequest {
    /// Which server receives it.
    pub server: Server,
    /// The HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header fields, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: String,
    /// The version of HTTP.
    pub protocol: Protocol,
    /// Whether the connection begins with TLS; absent: as the target describes the server.
    pub tls: Option<bool>,
}

/// A server of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Server {
    /// The server of webhooks: `url` of a target file.
    Webhooks,
    /// The server of probes: `ready` of a target file.
    Probes,
    /// The server of metrics: `metrics` of a target file.
    Metrics,
}

/// A version of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Protocol {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2, offered in the TLS handshake, and spoken at once without TLS.
    Http2,
}

/// A signal that ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProcessSignal {
    /// SIGTERM.
    Term,
    /// SIGINT.
    Int,
}

impl fmt::Display for ProcessAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(arguments) if arguments.is_empty() => f.write_str("the program runs without arguments"),
            Self::Run(arguments) => write!(f, "the program runs with {}", arguments.join(" ")),
            Self::Request(request) => {
                write!(f, "{} {} to the server of {}", request.method, request.path, request.server.name())
            }
            Self::Signal(ProcessSignal::Term) => f.write_str("the running program receives SIGTERM"),
            Self::Signal(ProcessSignal::Int) => f.write_str("the running program receives SIGINT"),
        }
    }
}

impl Server {
    /// The name in contracts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Webhooks => "webhooks",
            Self::Probes => "probes",
            Self::Metrics => "metrics",
        }
    }

    /// The field of a target file that has the server's address.
    #[must_use]
    pub fn field(self) -> &'static str {
        match self {
            Self::Webhooks => "url",
            Self::Probes => "ready",
            Self::Metrics => "metrics",
        }
    }
}
