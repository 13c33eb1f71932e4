//! What a program wrote about its own failure: the message, and the file and line of its own code.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::report::CaseResult;

/// A message of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramMessage {
    /// Its message, on one line.
    pub(crate) text: String,
    /// `main.go:107` with its path, if the message has one.
    pub(crate) place: Option<String>,
}

/// What the target of a case wrote about its failure during the exchange.
pub(crate) fn program_message(case: &CaseResult) -> Option<ProgramMessage> {
    read(&case.evidence.as_ref()?.output)
}

/// Finds the message of a failure in output; the last line if nothing looks like one, `None` without output.
fn read(output: &str) -> Option<ProgramMessage> {
    let lines: Vec<&str> = output.lines().collect();
    lines
        .iter()
        .enumerate()
        .find_map(|(at, line)| structured(line).or_else(|| go(&lines[at..])).or_else(|| rust(&lines[at..])))
        .or_else(|| python(&lines))
        .or_else(|| {
            let last = lines.iter().rev().find(|line| !line.trim().is_empty())?;
            Some(ProgramMessage { text: last.trim().to_owned(), place: None })
        })
}

/// A line of a structured log, as controller-runtime writes it: `{"msg":"Observed a panic","panic":"…","stacktrace":"…"}`.
fn structured(line: &str) -> Option<ProgramMessage> {
    let entry: Value = line.starts_with('{').then(|| formats::json::document(line.as_bytes()).ok())??;
    let text = entry["panic"].as_str()?;
    let trace = ["stacktrace", "stack"].iter().find_map(|name| entry[*name].as_str()).unwrap_or_default();
    let lines: Vec<&str> = trace.lines().collect();
    Some(ProgramMessage { text: format!("panic: {text}"), place: go_place(&lines) })
}

/// A panic in Go: `http: panic serving 127.0.0.1:4711: runtime error: …`, then the stack.
fn go(lines: &[&str]) -> Option<ProgramMessage> {
    static PANIC: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|\s)(panic(?: serving \S+)?: .+)$").expect("a constant expression")
    });
    static CLIENT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^panic serving \S+: ").expect("a constant expression"));
    let text = PANIC.captures(lines.first()?)?[1].trim().to_owned();
    // The port of the client is arbitrary.
    let text = CLIENT.replace(&text, "panic serving …: ").into_owned();
    Some(ProgramMessage { text, place: go_place(&lines[1..]) })
}

/// The first frame of a stack of Go that is the program's own: after `panic(…)`, outside of the standard library.
fn go_place(lines: &[&str]) -> Option<String> {
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s+(\S+\.go:\d+)").expect("a constant expression"));
    let from = lines.iter().position(|line| line.starts_with("panic(")).map_or(0, |at| at + 2);
    let is_library = |function: &str| {
        ["runtime.", "net/http.", "panic(", "sync.", "reflect."].iter().any(|name| function.starts_with(name))
    };
    let frames = lines.get(from..)?.windows(2);
    frames
        .filter(|pair| !is_library(pair[0]) && !pair[0].starts_with(char::is_whitespace))
        .find_map(|pair| Some(FRAME.captures(pair[1])?[1].to_owned()))
}

/// A panic in Rust: `thread 'main' panicked at src/main.rs:3:5:`, then the message.
fn rust(lines: &[&str]) -> Option<ProgramMessage> {
    static PANIC: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^thread .+ panicked at (\S+?:\d+)(?::\d+)?:$").expect("a constant expression")
    });
    let place = PANIC.captures(lines.first()?)?[1].to_owned();
    let message = lines.get(1).map(|line| line.trim()).unwrap_or_default();
    Some(ProgramMessage { text: format!("panicked: {message}"), place: Some(place) })
}

/// A traceback of Python: the last line is the message, the last frame the place.
fn python(lines: &[&str]) -> Option<ProgramMessage> {
    static FRAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"^\s+File "(.+)", line (\d+)"#).expect("a constant expression"));
    let start = lines.iter().position(|line| line.starts_with("Traceback (most recent call last)"))?;
    let mut place = None;
    for line in &lines[start + 1..] {
        if let Some(frame) = FRAME.captures(line) {
            place = Some(format!("{}:{}", &frame[1], &frame[2]));
        } else if !line.starts_with(char::is_whitespace) && !line.trim().is_empty() {
            return Some(ProgramMessage { text: line.trim().to_owned(), place });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(output: &str) -> (String, String) {
        let message = read(output).unwrap_or(ProgramMessage { text: String::new(), place: None });
        (message.text, message.place.unwrap_or_default())
    }

    #[test]
    fn a_panic_has_its_message_and_the_line_of_the_programs_own_code() {
        let go = "2026/11/26 06:00:01 http: panic serving 127.0.0.1:4711: runtime error: index out of range [3] with length 2\n\
            goroutine 12 [running]:\n\
            net/http.(*conn).serve.func1()\n\t/usr/local/go/src/net/http/server.go:1947 +0xbe\n\
            panic({0x6b2a80?, 0xc0001?})\n\t/usr/local/go/src/runtime/panic.go:792 +0x132\n\
            main.units(0xc0001)\n\t/home/me/acme/main.go:107 +0x1a5\n\
            main.serve({0x7a1, 0xc1}, 0xc2)\n\t/home/me/acme/main.go:136 +0x2c5\n";
        let controller_runtime = r#"{"level":"error","msg":"Observed a panic","panic":"assignment to entry in nil map","stacktrace":"goroutine 1 [running]:\nk8s.io/apimachinery/pkg/util/runtime.logPanic({0x1})\n\t/go/pkg/mod/k8s.io/apimachinery/runtime.go:90 +0x1\npanic({0x1})\n\t/usr/local/go/src/runtime/panic.go:1 +0x1\nexample.com/acme.(*ensurer).Ensure(0x1)\n\t/src/ensurer.go:42 +0x1"}"#;
        let rust = "thread 'tokio-worker' panicked at src/ensurer.rs:3:5:\nno such flag\nnote: run with RUST_BACKTRACE=1\n";
        let python = "Traceback (most recent call last):\n  File \"/a/server.py\", line 3, in do_POST\n    x()\n  File \"/a/hook.py\", line 9, in x\n    y[0]\nIndexError: list index out of range\n";
        let table = [
            (
                go,
                "panic serving …: runtime error: index out of range [3] with length 2",
                "/home/me/acme/main.go:107",
            ),
            (controller_runtime, "panic: assignment to entry in nil map", "/src/ensurer.go:42"),
            (rust, "panicked: no such flag", "src/ensurer.rs:3"),
            (python, "IndexError: list index out of range", "/a/hook.py:9"),
            ("one\nlast words\n\n", "last words", ""),
            ("", "", ""),
        ];
        for (output, text, place) in table {
            assert_eq!(found(output), (text.to_owned(), place.to_owned()));
        }
    }
}
