//! A run of a study ends with the process that executes the study.

/// The process that executes the study, for the check below.
pub const PARENT_VARIABLE: &str = "TIDEMARK_STUDY_PROCESS";

/// Makes this process end when the one that executes its study is killed; called first of all.
/// Otherwise a killed study would leave a load on the server that disturbs the next run.
///
/// Linux: the signal comes at the parent's death (prctl(2), `PR_SET_PDEATHSIG`); a parent that died
/// before the call is told by its number.
#[cfg(target_os = "linux")]
pub fn end_with_study() {
    use crate::exit::ExitCode;
    use nix::sys::prctl::set_pdeathsig;
    use nix::sys::signal::Signal;
    let Some(parent) = std::env::var(PARENT_VARIABLE).ok() else {
        return;
    };
    let Ok(parent) = parent.parse::<i32>() else {
        return;
    };
    let told = set_pdeathsig(Signal::SIGKILL);
    if told.is_ok() && nix::unistd::getppid().as_raw() != parent {
        std::process::exit(ExitCode::Interrupted as i32);
    }
}

/// Elsewhere a run goes on to its end, and is taken over when the study is resumed.
#[cfg(not(target_os = "linux"))]
pub fn end_with_study() {}
