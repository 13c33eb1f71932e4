//! Structured log lines as the original writes them: JSON with `level`, `ts`, `logger`, `msg`, or tab-separated text.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level as TracingLevel, Subscriber};
use tracing_subscriber::filter::{FilterFn, LevelFilter, Targets};
use tracing_subscriber::fmt::format::{JsonFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormattedFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::{LookupSpan, Scope};
use tracing_subscriber::{Layer as _, Registry};

use crate::clock::Clock;

/// The lowest level that is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Everything.
    Debug,
    /// Normal operation.
    #[default]
    Info,
    /// Failures.
    Error,
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One JSON object.
    #[default]
    Json,
    /// Tab-separated columns, with the fields as JSON at the end.
    Text,
}

/// Why the log cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Not one of `debug`, `info`, `error`.
    #[error("invalid log level {0:?}")]
    Level(String),
    /// Not one of `json`, `text`.
    #[error("invalid log format {0:?}")]
    Format(String),
    /// The process has a log already.
    #[error("failed to set up the log: {0}")]
    Twice(#[source] tracing::subscriber::SetGlobalDefaultError),
}

impl FromStr for Level {
    type Err = LogError;

    fn from_str(text: &str) -> Result<Self, LogError> {
        match text {
            "debug" => Ok(Self::Debug),
            "" | "info" => Ok(Self::Info),
            "error" => Ok(Self::Error),
            other => Err(LogError::Level(other.to_owned())),
        }
    }
}

impl FromStr for Format {
    type Err = LogError;

    fn from_str(text: &str) -> Result<Self, LogError> {
        match text {
            "" | "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            other => Err(LogError::Format(other.to_owned())),
        }
    }
}

/// Parses level and format of a configuration.
///
/// # Errors
/// When the level or the format is unknown.
pub fn configured(level: &str, format: &str) -> Result<(Level, Format), LogError> {
    Ok((level.parse()?, format.parse()?))
}

/// Logs to standard error from now on, for the whole process; panics are logged like other errors.
///
/// # Errors
/// When it was called before.
pub fn init(level: Level, format: Format, clock: Clock) -> Result<(), LogError> {
    let subscriber = subscriber(level, format, clock, std::io::stderr);
    tracing::subscriber::set_global_default(subscriber).map_err(LogError::Twice)?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no words");
        tracing::error!(target: "panic", place, "{message}");
    }));
    Ok(())
}

/// A subscriber that writes to `writer`.
pub fn subscriber<W>(level: Level, format: Format, clock: Clock, writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let level = match level {
        Level::Debug => LevelFilter::DEBUG,
        Level::Info => LevelFilter::INFO,
        Level::Error => LevelFilter::ERROR,
    };
    // What libraries log about every packet is noise.
    let noisy = ["h2", "hyper", "hyper_util", "rustls", "tokio_util", "tower"];
    let quiet = level.min(LevelFilter::INFO);
    let events = Targets::new().with_default(level).with_targets(noisy.map(|library| (library, quiet)));
    // Spans give the context of an event, whatever their level.
    let filter = FilterFn::new(move |metadata| {
        let telling = metadata.is_span() && *metadata.level() <= TracingLevel::INFO;
        telling || events.would_enable(metadata.target(), metadata.level())
    })
    .with_max_level_hint(level.max(LevelFilter::INFO));
    let lines = tracing_subscriber::fmt::layer()
        .fmt_fields(JsonFields::new())
        .event_format(Lines { format, clock })
        .with_writer(writer)
        .with_filter(filter);
    Registry::default().with(lines)
}

struct Lines {
    format: Format,
    clock: Clock,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> FormatEvent<S, JsonFields> for Lines {
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        for span in context.event_scope().into_iter().flat_map(Scope::from_root) {
            if let Some(written) = span.extensions().get::<FormattedFields<JsonFields>>() {
                fields.rest.extend(serde_json::from_str::<Map<_, _>>(written).unwrap_or_default());
            }
        }
        event.record(&mut fields);
        let metadata = event.metadata();
        let level = match *metadata.level() {
            TracingLevel::ERROR => "error",
            TracingLevel::WARN => "warn",
            TracingLevel::INFO => "info",
            TracingLevel::DEBUG | TracingLevel::TRACE => "debug",
        };
        let logger = metadata.target().replace("::", ".");
        let time = self.clock.now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        let message = &fields.message;
        match self.format {
            Format::Json => {
                let [logger, message] = [logger, message.clone()].map(Value::from);
                write!(writer, r#"{{"level":"{level}","ts":"{time}","logger":{logger},"msg":{message}"#)?;
                for (name, value) in &fields.rest {
                    write!(writer, ",{}:{value}", Value::from(name.as_str()))?;
                }
                writeln!(writer, "}}")
            }
            Format::Text => {
                write!(writer, "{time}\t{}\t{logger}\t{message}", level.to_uppercase())?;
                if !fields.rest.is_empty() {
                    write!(writer, "\t{}", Value::Object(fields.rest))?;
                }
                writeln!(writer)
            }
        }
    }
}

/// The message and the fields of an event; a field of the event overrides one of its span.
#[derive(Default)]
struct Fields {
    message: String,
    rest: Map<String, Value>,
}

impl Fields {
    fn set(&mut self, field: &Field, value: impl Into<Value>) {
        match (field.name(), value.into()) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => {
                self.rest.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.set(field, value.to_string());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(level: Level, format: Format) -> String {
        let memory = Memory::default();
        let writer = memory.clone();
        let clock = Clock::starting_at("2026-11-21T02:00:00.1234Z".parse().unwrap());
        tracing::subscriber::with_default(subscriber(level, format, clock, move || writer.clone()), || {
            tracing::debug!(target: "hyper::proto", "a packet");
            tracing::debug!(target: "webhooks", "seen");
            let span = tracing::info_span!("reconcile", controller = "node", count = 1);
            let _inside = span.enter();
            tracing::info!(target: "manager::start", port = 8081, ready = true, count = 2, "Starting \"it\"");
            let error = io::Error::other("broken");
            tracing::error!(target: "webhooks", error = &error as &dyn std::error::Error, path = ?"/a", "failed");
        });
        let bytes = memory.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn lines_are_those_of_the_original() {
        let json = concat!(
            r#"{"level":"info","ts":"2026-11-21T02:00:00.123Z","logger":"manager.start","msg":"Starting \"it\"","#,
            r#""controller":"node","count":2,"port":8081,"ready":true}"#,
            "\n",
            r#"{"level":"error","ts":"2026-11-21T02:00:00.123Z","logger":"webhooks","msg":"failed","#,
            r#""controller":"node","count":1,"error":"broken","path":"\"/a\""}"#,
            "\n"
        );
        assert_eq!(written(Level::Info, Format::Json), json);
        let text = "2026-11-21T02:00:00.123Z\tERROR\twebhooks\tfailed\t\
                    {\"controller\":\"node\",\"count\":1,\"error\":\"broken\",\"path\":\"\\\"/a\\\"\"}\n";
        assert_eq!(written(Level::Error, Format::Text), text);
        let debug = written(Level::Debug, Format::Text);
        assert!(debug.starts_with("2026-11-21T02:00:00.123Z\tDEBUG\twebhooks\tseen\n"), "{debug}");
    }

    #[test]
    fn levels_and_formats_are_read_and_others_refused() {
        let level = |text: &str| text.parse::<Level>().map_err(|error| error.to_string());
        assert_eq!(level("debug"), Ok(Level::Debug));
        assert_eq!(level(""), Ok(Level::Info));
        assert_eq!(level("info"), Ok(Level::Info));
        assert_eq!(level("error"), Ok(Level::Error));
        assert_eq!(level("warn"), Err("invalid log level \"warn\"".to_owned()));
        let format = |text: &str| text.parse::<Format>().map_err(|error| error.to_string());
        assert_eq!(
            (format(""), format("json"), format("text")),
            (Ok(Format::Json), Ok(Format::Json), Ok(Format::Text))
        );
        assert_eq!(format("xml"), Err("invalid log format \"xml\"".to_owned()));
    }
}
