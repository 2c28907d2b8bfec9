//! The load that an agent starts: one client's share of a job, in a process of its own. It gets the job
//! and what it is told on standard input, and tells what it measures on standard output, a line each
//! ([`Up`], [`Down`]). It ends its load by itself when its lease is not renewed, also when its agent
//! does not run any more.

use super::scripts::{self, Scripts};
use crate::compat::tpch;
use crate::exit::{ExitCode, Failure};
use crate::live_output::LiveOutput;
use crate::looking::Described;
use crate::measuring::{Ready, RunContext, Voice};
use crate::plan::BoundWorkload;
use crate::record_outputs::RecordOutputs;
use crate::recording::Recording;
use crate::runner::JobOrder;
use crate::watching::Watching;
use crate::{interrupt, jobs, program};
use indicatif::ProgressBar;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tidemark_clients::{Down, HeldRate, Message, Up, instant_of, now_ns, stop_after};
use tidemark_core::job::{OutputFiles, Watch};
use tidemark_core::observe::CLIENT_HOST;
use tidemark_core::record::{Interval, RunRecord};
use tidemark_core::{Job, JobKind, Observe, Source};
use tidemark_engine::{Lead, LeadEvent, LedStep, StopHandle, lead};
use tidemark_files::LONGEST_CONFIGURATION;
use tidemark_lua::FILES_OPTION;
use tidemark_observe::HostSampler;
use tidemark_process::{Signal, signal};

/// The process that must not be survived.
pub const PARENT_VARIABLE: &str = crate::study::PARENT_VARIABLE;
/// The hidden command that an agent starts.
pub const LOAD: &str = "client-load";
/// The hidden command that becomes another program, which ends with the process that started it.
pub const BESIDE: &str = "client-beside";
/// The process says so often that it lives, and looks at its lease.
const LOOK: Duration = Duration::from_millis(100);
/// An end that is asked for is passed on within this time.
const SOON: Duration = Duration::from_millis(20);

/// What standard input has told.
#[derive(Debug, Default)]
struct Heard {
    until_ns: i64,
    go: Option<i64>,
    is_closed: bool,
}

static HEARD: Mutex<Heard> = Mutex::new(Heard {
    until_ns: 0,
    go: None,
    is_closed: false,
});
static CHANGED: Condvar = Condvar::new();
/// Whether this process is a load that an agent started.
static IS_LOAD: AtomicBool = AtomicBool::new(false);

/// Whether this process is a load that an agent started: its output is the agent's, and its job was made on
/// another host.
pub fn is_load() -> bool {
    IS_LOAD.load(Ordering::Relaxed)
}

/// Becomes the program of these words, which ends with the process that started this one: the signal of a
/// parent's death outlives execve(2) (prctl(2), `PR_SET_PDEATHSIG`).
pub fn end_with_agent(words: &[String]) -> Failure {
    let Some((program, rest)) = words.split_first() else {
        return Failure::usage("client-beside: no program");
    };
    let error = Command::new(program).args(rest).exec();
    Failure::new(ExitCode::Failed, format!("{program}: {error}"))
}

/// Does a client's share of the job on standard input.
///
/// # Errors
/// [`Failure`] of what is no job; everything else is told as a message.
pub fn work() -> Result<ExitCode, Failure> {
    IS_LOAD.store(true, Ordering::Relaxed);
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    let read = Read::by_ref(&mut input)
        .take(LONGEST_CONFIGURATION)
        .read_line(&mut line);
    read.map_err(|e| Failure::usage(format!("standard input: {e}")))?;
    let job = Job::from_json(&line).map_err(|e| Failure::usage(e.to_string()))?;
    // Its own signals are its agent's: Ctrl-C in a terminal reaches both.
    interrupt::listen_saying("");
    let (lead, events) = lead();
    let told = lead.clone();
    std::thread::spawn(move || listen(input, &told));
    std::thread::spawn(tell_alive);
    std::thread::spawn(watch_lease);
    match done(&job, lead, events) {
        Ok(message) => tell(&message),
        Err(failure) => tell(&Message::Failed {
            code: failure.code as u8,
            message: failure.message,
        }),
    }
    say(&Up::Over(None));
    Ok(ExitCode::Success)
}

fn done(job: &Job, lead: Lead, events: Receiver<LeadEvent>) -> Result<Message, Failure> {
    let mut order = jobs::order_of(&own(job), None)?;
    match job.kind() {
        JobKind::Run => {
            forget_files(&mut order);
            order.lead = Some(lead);
            let telling = std::thread::spawn(move || tell_events(&events));
            let record = run(&order)?;
            // All that the run told comes before its end. One that failed tells no end, and is not waited for.
            let _panicked = telling.join();
            Ok(Message::Ended(Box::new(record)))
        }
        JobKind::Load => {
            say(&Up::Ready);
            match wait_for_start() {
                Some(at_ns) => load(&order, at_ns),
                None => Err(Failure::new(ExitCode::Interrupted, "ended before it began")),
            }
        }
    }
}

/// A script's files were read, and its record needs them not.
fn forget_files(order: &mut JobOrder) {
    if order.options.has(FILES_OPTION) {
        // A text is always taken.
        let _taken = order.options.set(FILES_OPTION, "", Source::Default);
        let settings = &mut order.job.workload.settings;
        settings.insert(FILES_OPTION, "".into());
        let option = format!("--{FILES_OPTION}=");
        order.command.retain(|word| !word.starts_with(&option));
    }
}

/// The job of this client alone: it observes its own host, for the coordinator observes the rest.
fn own(job: &Job) -> Job {
    let observe = match job.watch.observe.wants(CLIENT_HOST) {
        true => Observe::Only(vec![CLIENT_HOST.into()]),
        false => Observe::Off,
    };
    Job {
        clients: None,
        outputs: OutputFiles {
            store: Some("off".into()),
            ..OutputFiles::default()
        },
        watch: Watch {
            observe,
            ..Watch::default()
        },
        ..job.clone()
    }
}

fn run(order: &JobOrder) -> Result<RunRecord, Failure> {
    let plan = BoundWorkload::of(order)?;
    let outputs = RecordOutputs::new(&order.job.outputs)?;
    let mut watching = Watching::new(&order.job.watch)?;
    // The coordinator has looked at the target.
    let mut recording = Recording::new(order, Described::unknown());
    recording.record.server = None;
    let asked = RunContext {
        job: &order.job,
        plan: &plan,
        outputs: &outputs,
        prepare: "tidemark … prepare",
        lead: order.lead.as_ref(),
    };
    let ready = Ready::of_client(asked, recording, &mut watching);
    if order.job.tool.name == tpch::TOOL.name {
        return tpch::ask_share(order, ready, &|query| {
            tell(&Message::Query(Box::new(query.clone())));
        });
    }
    let mut nowhere = std::io::sink();
    let say = LiveOutput::one(&mut nowhere, ProgressBar::hidden());
    Ok(ready.measure(&[], None, say, &mut Silent)?.into_record())
}

/// A load of tables is a process of its own once more: it prints as it does alone.
fn load(order: &JobOrder, at_ns: i64) -> Result<Message, Failure> {
    let failed = |e: std::io::Error| Failure::new(ExitCode::Failed, e.to_string());
    let left = instant_of(at_ns).saturating_duration_since(Instant::now());
    std::thread::sleep(left);
    let stop = interrupt::handle();
    if stop.is_stopped() {
        return Err(Failure::new(ExitCode::Interrupted, "ended before it began"));
    }
    say(&Up::Began(now_ns()));
    let allowed = match scripts::are_confined() {
        true => Scripts::Queries,
        false => Scripts::Any,
    };
    let mut child = Command::new(program::path().map_err(failed)?)
        .arg0("tidemark")
        .args(["exec", "-"])
        .env_remove(crate::secrets::VARIABLE)
        .env(PARENT_VARIABLE, std::process::id().to_string())
        .env(scripts::VARIABLE, allowed.word())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        // Ctrl-C in the agent's terminal comes by way of this process, and once.
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let (pid, is_read) = (child.id(), Arc::new(AtomicBool::new(false)));
    let (asked, read) = (stop.clone(), Arc::clone(&is_read));
    let passing = std::thread::spawn(move || pass_on(&asked, pid, &read));
    if let Some(mut to) = child.stdin.take() {
        // One that ends before it has read says why.
        let _ended = to.write_all(order.job.to_json().as_bytes());
    }
    if let Some(from) = child.stdout.take() {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            tell(&Message::Line(line));
        }
    }
    // Until it is waited for, its number is its own.
    is_read.store(true, Ordering::Release);
    let _panicked = passing.join();
    let status = child.wait().map_err(failed)?;
    let interrupted = ExitCode::Interrupted;
    match status.code() {
        Some(0) => Ok(Message::Loaded),
        Some(code) if code == interrupted as i32 => {
            Err(Failure::new(interrupted, "the load was interrupted"))
        }
        // Asked before it listened.
        None if stop.is_stopped() => Err(Failure::new(interrupted, "ended before it began")),
        _ => Err(Failure::new(
            ExitCode::Failed,
            format!("the load ended with {status}; its agent's output says why"),
        )),
    }
}

/// Asks the process of a load to end when this one is: it finishes its chunks, and the journal knows them.
fn pass_on(stop: &StopHandle, pid: u32, is_read: &AtomicBool) {
    while !is_read.load(Ordering::Acquire) {
        if stop.is_stopped() {
            // Once: a second one ends it at once.
            signal(Signal::SIGTERM, &[pid]);
            return;
        }
        std::thread::sleep(SOON);
    }
}

/// Passes on what the engine tells.
fn tell_events(events: &Receiver<LeadEvent>) {
    let mut host = HostSampler::new();
    for event in events {
        match event {
            LeadEvent::Ready(started) => {
                tell(&Message::Started {
                    sessions: started.sessions,
                    fewer_because: started.fewer_because,
                    executors: started.executors,
                    connect_ms: u64::try_from(started.connect_time.as_millis()).unwrap_or(0),
                });
                say(&Up::Ready);
            }
            LeadEvent::Began { late } => {
                let asked = lock().go.unwrap_or_else(now_ns);
                let late = i64::try_from(late.as_nanos()).unwrap_or(i64::MAX);
                say(&Up::Began(asked.saturating_add(late)));
            }
            LeadEvent::Interval {
                number,
                interval,
                errors,
            } => {
                let load = host.sample();
                tell(&Message::Interval {
                    number,
                    interval: Box::new(interval),
                    errors,
                    cpus: Some(load.process_cpus),
                    host_busy: Some(load.cpu_busy),
                });
            }
            LeadEvent::Step(step) => tell(&Message::Step(Box::new(step))),
            LeadEvent::Ended => return,
        }
    }
}

/// Passes on what the agent tells.
fn listen(input: impl BufRead, lead: &Lead) {
    for line in input.lines().map_while(Result::ok) {
        match Down::of(&line) {
            Some(Down::Until(ns)) => lock().until_ns = ns,
            Some(Down::Go(ns)) => {
                lock().go = Some(ns);
                lead.start_at(instant_of(ns));
            }
            Some(Down::Hold(step)) => lead.hold(led(&step)),
            Some(Down::EndSteps) => lead.end_steps(),
            Some(Down::Stop) => interrupt::handle().stop(),
            None => {}
        }
        CHANGED.notify_all();
    }
    // The agent has ended: no load without one.
    lock().is_closed = true;
    interrupt::handle().stop();
    CHANGED.notify_all();
}

fn led(step: &HeldRate) -> LedStep {
    LedStep {
        purpose: step.purpose,
        rate: step.rate,
        from: instant_of(step.from_ns),
        hold: Duration::from_nanos(step.hold_ns),
    }
}

/// Says that the process lives.
fn tell_alive() {
    loop {
        say(&Up::Alive);
        std::thread::sleep(LOOK);
    }
}

/// Ends the load when the lease does. It writes nothing: an agent that reads no more would hold it up.
fn watch_lease() {
    let begun = now_ns();
    let mut length = None;
    let mut last = Instant::now();
    loop {
        std::thread::sleep(LOOK);
        let until = lock().until_ns;
        let now = now_ns();
        if until == 0 {
            continue;
        }
        // The first one is the whole lease.
        let whole = *length.get_or_insert(until.saturating_sub(begun).max(1));
        let whole = Duration::from_nanos(whole.unsigned_abs());
        let left = Duration::from_nanos(until.saturating_sub(now).max(0).unsigned_abs());
        if left.is_zero() {
            // Also what hangs.
            std::process::exit(ExitCode::Interrupted as i32);
        }
        if left < whole.saturating_sub(stop_after(whole)) && last.elapsed() > LOOK {
            interrupt::handle().stop();
            last = Instant::now();
        }
    }
}

/// Waits until the agent tells when to begin; none when it is to end instead.
fn wait_for_start() -> Option<i64> {
    let mut heard = lock();
    loop {
        if heard.is_closed || interrupt::handle().is_stopped() {
            return None;
        }
        if let Some(at) = heard.go {
            return Some(at);
        }
        let waited = CHANGED.wait_timeout(heard, LOOK);
        heard = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn lock() -> std::sync::MutexGuard<'static, Heard> {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tell(message: &Message) {
    match serde_json::to_string(message) {
        Ok(json) => say(&Up::Message(json)),
        Err(error) => eprintln!("tidemark: a message could not be sent: {error}"),
    }
}

/// Says a line. Whoever does not listen any more has ended, and its load ends with it.
fn say(up: &Up) {
    let mut out = std::io::stdout().lock();
    let said = writeln!(out, "{}", up.line()).and_then(|()| out.flush());
    if said.is_err() {
        interrupt::handle().stop();
    }
}

/// Nobody reads lines of a client.
struct Silent;

impl Voice for Silent {
    fn interval(&mut self, _: &Interval, _: &mut LiveOutput<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_of_a_load_is_asked_to_end_and_ends_by_itself() {
        let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
        let mut child = Command::new("/bin/sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        let (stop, is_read) = (StopHandle::new(), AtomicBool::new(false));
        stop.stop();
        pass_on(&stop, child.id(), &is_read);
        assert_eq!(child.wait().unwrap().code(), Some(7));
        // One that has ended is not asked.
        is_read.store(true, Ordering::Release);
        pass_on(&stop, child.id(), &is_read);
    }
}
