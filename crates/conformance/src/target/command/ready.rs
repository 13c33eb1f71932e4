//! Waits until a started target is ready.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use webhook::dial::{DialError, Dialer};

use super::addresses::Addresses;
use super::process::Process;
use crate::target::url::{self, TargetDescription};
use crate::target::{TargetError, plain};

/// How long a target may take to become ready.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a ready target may refuse connections: `ready` need not depend on the webhooks' server.
const REFUSALS: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// Waits for status 200 from `ready`, or, without it, for a connection to `url`.
pub(super) async fn wait(
    process: &mut Process,
    addresses: &Addresses,
    hint: &'static str,
) -> Result<(), TargetError> {
    let probed = addresses.ready.as_deref().unwrap_or(&addresses.url);
    let (host, path) = plain::parts(probed).ok_or_else(|| TargetError::Description {
        what: probed.to_owned(),
        reason: "expected http://HOST:PORT/PATH".to_owned(),
    })?;
    let by_http = probed.starts_with("http://");
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = process.ended() {
            return Err(ended(process, status).await);
        }
        if is_up(&host, &path, by_http).await {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(TargetError::NotReady {
                command: process.name().to_owned(),
                ready: probed.to_owned(),
                seconds: PATIENCE.as_secs(),
                hint,
                last_output: process.last_output(),
            });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits for an HTTP response. The first connections may be refused, and may break if they are accepted early.
pub(super) async fn contact(
    process: &mut Process,
    dialer: &dyn Dialer,
    target: (&str, &TargetDescription),
    accepted_early: bool,
) -> Result<(), TargetError> {
    let began = Instant::now();
    loop {
        let Err(error) = url::first_contact(dialer, target).await else { return Ok(()) };
        if let Some(status) = process.ended() {
            return Err(ended(process, status).await);
        }
        let patience = match &error {
            _ if accepted_early => PATIENCE,
            TargetError::Unreachable { source: DialError::Connect { .. } } => REFUSALS,
            _ => Duration::ZERO,
        };
        if began.elapsed() > patience {
            return Err(error);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The error about an ended process; waits for its last output.
async fn ended(process: &Process, status: String) -> TargetError {
    tokio::time::sleep(PAUSE).await;
    TargetError::Ended { command: process.name().to_owned(), status, last_output: process.last_output() }
}

async fn is_up(host: &str, path: &str, by_http: bool) -> bool {
    let contact = async {
        let mut stream = TcpStream::connect(host).await.ok()?;
        if !by_http {
            return Some(());
        }
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.ok()?;
        head.ends_with(b" 200").then_some(())
    };
    matches!(tokio::time::timeout(Duration::from_secs(2), contact).await, Ok(Some(())))
}
