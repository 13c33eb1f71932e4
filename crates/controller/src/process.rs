//! The process around webhooks and controllers: runs its parts until a signal or a failure, then stops them.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use formats::exposition;
use http::{HeaderValue, Request, Response, header};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use webhook::server::{Patience, descriptors, serve};

use crate::metrics::Registry;
use crate::probes::{Probes, not_found};

/// Why a process could not start, or failed.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The address cannot be listened on.
    #[error("failed to listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The port is out of range.
    #[error("failed to listen on port {0}: it must be between 0 and 65535")]
    Port(i64),
    /// A part failed.
    #[error("failed to run {part}: {message}")]
    Part {
        /// Its name.
        part: String,
        /// Its error.
        message: String,
    },
    /// Some parts did not end in time.
    #[error("failed waiting for all runnables to end within grace period of {0:?}")]
    Grace(Duration),
}

/// The parts of a process, which are stopped together.
#[derive(Debug)]
pub struct Process {
    stop: CancellationToken,
    parts: JoinSet<Result<(), ProcessError>>,
    grace: Duration,
}

impl Process {
    /// A process whose parts have `grace` to end.
    #[must_use]
    pub fn new(grace: Duration) -> Self {
        Self { stop: CancellationToken::new(), parts: JoinSet::new(), grace }
    }

    /// A token that is cancelled when the parts shall end.
    #[must_use]
    pub fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Starts a part. It may end successfully at any time; its failure ends the process.
    pub fn spawn<E: fmt::Display>(
        &mut self,
        part: &str,
        run: impl Future<Output = Result<(), E>> + Send + 'static,
    ) {
        let part = part.to_owned();
        self.parts.spawn(async move {
            run.await.map_err(|error| ProcessError::Part { part, message: error.to_string() })
        });
    }

    /// Serves `/healthz` and `/readyz`, and returns the address it listens on.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn serve_probes(
        &mut self,
        address: &str,
        port: u16,
        probes: Probes,
    ) -> Result<SocketAddr, ProcessError> {
        self.serve(address, port, "health probe server", move |request: Request<Incoming>| {
            let probes = probes.clone();
            async move { Ok(probes.answer(request.uri()).await) }
        })
        .await
    }

    /// Serves `/metrics`, and returns the address it listens on.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn serve_metrics(
        &mut self,
        address: &str,
        port: u16,
        registry: Registry,
    ) -> Result<SocketAddr, ProcessError> {
        let registry = Arc::new(registry);
        self.serve(address, port, "metrics server", move |request: Request<Incoming>| {
            let registry = Arc::clone(&registry);
            async move { Ok(if request.uri().path() == "/metrics" { measured(&registry) } else { not_found() }) }
        })
        .await
    }

    /// Runs until `shutdown` resolves or a part fails, then stops all parts and waits for them.
    ///
    /// # Errors
    /// The first failure of a part, or that parts did not end within the grace period.
    pub async fn run(mut self, shutdown: impl Future<Output = ()> + Send) -> Result<(), ProcessError> {
        let mut shutdown = std::pin::pin!(shutdown);
        let mut outcome = loop {
            tokio::select! {
                () = &mut shutdown => break Ok(()),
                Some(ended) = self.parts.join_next() => match flatten(ended) {
                    Ok(()) => {}
                    failed => break failed,
                },
            }
        };
        tracing::info!("Stopping and waiting for the parts of the process");
        self.stop.cancel();
        let grace = self.grace;
        let parts = &mut self.parts;
        let ended = tokio::time::timeout(grace, async {
            let mut outcome = Ok(());
            while let Some(ended) = parts.join_next().await {
                outcome = outcome.and(flatten(ended));
            }
            outcome
        });
        outcome = outcome.and(ended.await.unwrap_or(Err(ProcessError::Grace(grace))));
        outcome
    }

    async fn serve<F, R>(
        &mut self,
        address: &str,
        port: u16,
        name: &str,
        answer: F,
    ) -> Result<SocketAddr, ProcessError>
    where
        F: Fn(Request<Incoming>) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + 'static,
    {
        let listener = listen(address, port).await?;
        let bound = local(&listener, address)?;
        tracing::info!(address = %bound, "Starting {name}");
        let stop = self.stop();
        let patience = Patience { drain: self.grace, connections: descriptors(8), ..Patience::default() };
        let service = tower::service_fn(answer);
        self.spawn(name, async move {
            serve(listener, None, service, patience, stop.cancelled_owned()).await;
            Ok::<(), Infallible>(())
        });
        Ok(bound)
    }
}

/// Converts the port of a configuration file.
///
/// # Errors
/// When it is out of range.
pub fn port(number: i64) -> Result<u16, ProcessError> {
    u16::try_from(number).map_err(|_| ProcessError::Port(number))
}

/// Listens on an address; an empty one means all addresses, IPv6 and IPv4, and port 0 any free port.
///
/// # Errors
/// When the address is invalid or in use.
pub async fn listen(address: &str, port: u16) -> Result<TcpListener, ProcessError> {
    let failed = |source| ProcessError::Listen { address: format!("{address}:{port}"), source };
    if !address.is_empty() {
        return TcpListener::bind((address.trim_matches(['[', ']']), port)).await.map_err(failed);
    }
    match TcpListener::bind(("::", port)).await {
        // The machine has no IPv6.
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind(("0.0.0.0", port)).await.map_err(failed)
        }
        result => result.map_err(failed),
    }
}

/// Resolves at the first SIGTERM or SIGINT; the second ends the process at once, with code 1.
///
/// # Errors
/// When signals cannot be listened for.
pub fn termination_signal() -> io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            #[expect(clippy::exit, reason = "a second signal ends the process immediately")]
            std::process::exit(1);
        });
    })
}

fn local(listener: &TcpListener, address: &str) -> Result<SocketAddr, ProcessError> {
    listener.local_addr().map_err(|source| ProcessError::Listen { address: address.to_owned(), source })
}

fn measured(registry: &Registry) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(registry.encode())));
    let content_type = HeaderValue::from_static(exposition::CONTENT_TYPE);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

fn flatten(ended: Result<Result<(), ProcessError>, tokio::task::JoinError>) -> Result<(), ProcessError> {
    ended.unwrap_or_else(|error| {
        Err(ProcessError::Part { part: "a part".to_owned(), message: error.to_string() })
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;
    use tokio::sync::oneshot;

    use super::*;

    async fn get(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", address.port())).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn probes_and_metrics_are_served_until_shutdown() {
        let mut process = Process::new(Duration::from_secs(5));
        let probes = Probes::new().health("ping", || async { Ok(()) });
        let health = process.serve_probes("", 0, probes).await.unwrap();
        let mut registry = Registry::new();
        registry.register(crate::metrics::process(crate::clock::Clock::system()));
        let metrics = process.serve_metrics("127.0.0.1", 0, registry).await.unwrap();
        let (trigger, shutdown) = oneshot::channel::<()>();
        let running = tokio::spawn(process.run(async move { drop(shutdown.await) }));

        let answer = get(health, "/healthz").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok"), "{answer}");
        let answer = get(metrics, "/metrics").await;
        assert!(answer.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{answer}");
        assert!(answer.contains("\n# TYPE process_start_time_seconds gauge\n"), "{answer}");
        assert!(get(metrics, "/other").await.starts_with("HTTP/1.1 404 Not Found\r\n"));

        trigger.send(()).unwrap();
        running.await.unwrap().unwrap();
        assert!(TcpStream::connect(("127.0.0.1", health.port())).await.is_err());
    }

    #[tokio::test]
    async fn an_address_in_use_is_named() {
        let taken = listen("127.0.0.1", 0).await.unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = listen("127.0.0.1", port).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("failed to listen on 127.0.0.1:{port}: ")), "{error}");
        let everywhere = listen("", 0).await.unwrap();
        let port = everywhere.local_addr().unwrap().port();
        assert!(listen("", port).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_failing_part_stops_the_others() {
        let mut process = Process::new(Duration::from_secs(5));
        let stop = process.stop();
        let (ended, seen) = oneshot::channel();
        process.spawn("well", async { Ok::<(), String>(()) });
        process.spawn("good", async move {
            stop.cancelled().await;
            ended.send(()).unwrap();
            Ok::<(), String>(())
        });
        process.spawn("bad", async {
            tokio::time::sleep(Duration::from_mins(1)).await;
            Err("no lease")
        });
        let error = process.run(std::future::pending()).await.unwrap_err().to_string();
        assert_eq!(error, "failed to run bad: no lease");
        seen.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn parts_that_do_not_end_are_left_behind() {
        let mut process = Process::new(Duration::from_secs(5));
        process.spawn("stuck", std::future::pending::<Result<(), String>>());
        let started = tokio::time::Instant::now();
        let error = process.run(std::future::ready(())).await.unwrap_err().to_string();
        assert_eq!(error, "failed waiting for all runnables to end within grace period of 5s");
        assert_eq!(started.elapsed(), Duration::from_secs(5));
    }

    #[tokio::test]
    async fn a_panic_is_a_failure() {
        let mut process = Process::new(Duration::from_secs(5));
        process.spawn("mad", async {
            assert!(std::hint::black_box(false), "no idea");
            Ok::<(), String>(())
        });
        let error = process.run(std::future::pending()).await.unwrap_err().to_string();
        assert!(error.contains("panicked"), "{error}");
    }
}
