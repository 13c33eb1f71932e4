//! The program under test, which ends when this process ends, also if this process is killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::environment;

/// A script that ends the program when standard input is closed, which the kernel does when this process ends.
const TETHER: &str = "exec 3<&0 </dev/null; \"$@\" & program=$!; (cat <&3 >/dev/null; kill -TERM \"$program\") & watch=$!; \
                      wait \"$program\"; status=$?; kill \"$watch\" 2>/dev/null; exit \"$status\"";

/// A started program; dropping it ends it.
pub(crate) struct Tethered(Child);

impl Tethered {
    /// Starts the program with these arguments.
    pub(crate) fn spawn(arguments: &[String]) -> Result<Self, String> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", TETHER, "tether", &environment::program()]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.spawn().map(Self).map_err(|error| error.to_string())
    }

    /// The first line that it prints.
    pub(crate) fn first_line(&mut self) -> Option<String> {
        BufReader::new(self.0.stdout.take()?).lines().next()?.ok()
    }

    /// Waits until the program ends, and copies its output to standard error.
    pub(crate) fn wait(mut self) -> Result<ExitStatus, String> {
        // Read its output, because a full pipe would block it.
        let output = self.0.stdout.take();
        let stdin = self.0.stdin.take();
        for line in output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok))
        {
            eprintln!("{line}");
        }
        let status = self.0.wait().map_err(|error| error.to_string());
        drop(stdin);
        status
    }
}

impl Drop for Tethered {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
