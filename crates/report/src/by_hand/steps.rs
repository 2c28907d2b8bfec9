//! The commands of several steps, in their order, with the loads that they need.

use super::{ByHand, Data, Gate, Load, PrivateServer, about_settings, comment, line};
use crate::texts::Texts;

/// A command of a study, or of several runs.
pub(crate) struct Labelled<'a> {
    pub label: String,
    pub words: &'a [String],
    pub by_hand: Option<&'a ByHand>,
}

impl<'a> Labelled<'a> {
    pub fn of(label: String, words: &'a [String], by_hand: Option<&'a ByHand>) -> Self {
        Self {
            label,
            words,
            by_hand,
        }
    }
}

/// The loads that were told so far.
#[derive(Default)]
struct Loads<'a> {
    /// Of steps that stand among all steps of their study.
    steps: Vec<(&'a PrivateServer, usize, Gate)>,
    /// What each server's tables hold, where runs come without the steps that loaded for them.
    held: Vec<(&'a PrivateServer, &'a Load, Gate)>,
    told: usize,
}

impl<'a> Loads<'a> {
    fn next(&mut self) -> Gate {
        self.told += 1;
        Gate(self.told)
    }

    /// The lines of a step, with the load that it needs unless that stands before it.
    fn of_step(&mut self, step: &Labelled<'a>, t: &Texts) -> Vec<String> {
        let command = line(step.words, step.by_hand);
        let Some(by_hand) = step.by_hand else {
            return vec![command];
        };
        let mut lines = Vec::new();
        let about = about_settings(&by_hand.settings, t);
        let command = match (&by_hand.server, by_hand.data, &by_hand.load) {
            (Some(server), Some(Data::Loads(number)), _) => {
                let gate = self.next();
                self.steps.push((server, number, gate));
                gate.load(&command, step.by_hand)
            }
            (Some(server), Some(Data::Needs(number)), _) => {
                let is_it =
                    |told: &&(&PrivateServer, usize, Gate)| (told.0, told.1) == (server, number);
                match self.steps.iter().find(is_it) {
                    Some((.., gate)) => gate.run(&command, step.by_hand),
                    None => command,
                }
            }
            (Some(server), None, Some(load)) => {
                let (gate, loading) = self.holding(server, load);
                if let Some(words) = loading {
                    lines.extend(about_settings(&load.settings, t));
                    lines.push(gate.load(&line(words, step.by_hand), step.by_hand));
                }
                gate.run(&command, step.by_hand)
            }
            _ => command,
        };
        lines.extend(about);
        lines.push(command);
        lines
    }

    /// The load that a run needs, with its command unless the server holds its data.
    fn holding(
        &mut self,
        server: &'a PrivateServer,
        load: &'a Load,
    ) -> (Gate, Option<&'a [String]>) {
        let at = self.held.iter().position(|(of, ..)| *of == server);
        if let Some((_, held, gate)) = at.and_then(|at| self.held.get(at))
            && *held == load
        {
            return (*gate, None);
        }
        let gate = self.next();
        match at {
            Some(at) => {
                self.held[at] = (server, load, gate);
                (gate, Some(&load.replacing))
            }
            None => {
                self.held.push((server, load, gate));
                (gate, Some(&load.words))
            }
        }
    }
}

/// The commands of several steps, in their order, with the private servers that they take.
pub(crate) fn of_steps(steps: &[Labelled<'_>], t: &Texts) -> String {
    let mut servers: Vec<&PrivateServer> = Vec::new();
    for server in steps.iter().filter_map(|s| s.by_hand?.server.as_ref()) {
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
    let starts = servers.iter();
    let mut lines: Vec<String> = starts
        .flat_map(|s| [comment(&s.says(t)), s.start()])
        .collect();
    let mut loads = Loads::default();
    for step in steps {
        lines.push(comment(&step.label));
        lines.extend(loads.of_step(step, t));
    }
    let ends: Vec<String> = servers.iter().filter_map(|s| s.end()).collect();
    if !ends.is_empty() {
        lines.push(comment(t.by_hand_end));
        lines.extend(ends);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::tests::words;
    use crate::texts::Lang;

    #[test]
    fn other_data_are_loaded_in_place_of_those_that_are_there() {
        let server = PrivateServer {
            asked: "up:mariadb".into(),
            name: "again-1".into(),
            start: words("tidemark up mariadb --name again-1"),
            users: false,
        };
        let with = |rows: &str| ByHand {
            server: Some(server.clone()),
            load: Some(Load {
                words: words(&format!("load {rows}")),
                replacing: words(&format!("load {rows} --replace")),
                ..Load::default()
            }),
            ..ByHand::default()
        };
        let (few, many) = (with("10"), with("20"));
        let run = words("run --target=mysql://gone");
        let label = "a\nrm -rf x";
        let step = |by_hand| Labelled::of(label.into(), &run, Some(by_hand));
        let text = of_steps(&[step(&few), step(&few), step(&many)], Lang::En.texts());
        let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
        let again = "run --target=\"$(tidemark up again-1 --url)\"";
        assert_eq!(
            lines,
            [
                "tidemark up mariadb --name again-1",
                "load 10",
                again,
                again,
                "load 20 --replace",
                again,
                "tidemark down again-1"
            ]
        );
    }

    fn lines(steps: &[Labelled<'_>]) -> Vec<String> {
        let text = of_steps(steps, Lang::En.texts());
        let lines = text.lines().filter(|l| !l.starts_with("# step"));
        lines.map(String::from).collect()
    }

    #[test]
    fn each_run_with_rows_of_its_own_gets_its_load_with_what_was_set_for_it() {
        let with = |step: usize| ByHand {
            server: Some(PrivateServer {
                asked: "up:mariadb".into(),
                name: "again-1".into(),
                start: words("tidemark up mariadb"),
                users: false,
            }),
            load: Some(Load {
                step,
                words: words("load 10"),
                replacing: words("load 10 --replace"),
                settings: vec![("flush".into(), "2".into())],
            }),
            ..ByHand::default()
        };
        let (first, second) = (with(0), with(2));
        let run = words("run");
        let steps = [&first, &first, &second].map(|b| Labelled::of("step".into(), &run, Some(b)));
        let lines = lines(&steps);
        let set = "# The study had set flush = 2 on the server for this command, and put it back \
            after it: set it before, for the command does not";
        assert_eq!(
            lines[2..8],
            [set, "load 10", "run", "run", set, "load 10 --replace"]
        );
    }

    #[test]
    fn nothing_is_measured_on_a_users_server_that_refused_the_data() {
        let with = |data: Data| ByHand {
            server: Some(PrivateServer {
                asked: "up:mariadb?name=mine".into(),
                name: "mine".into(),
                start: words("tidemark up mariadb"),
                users: true,
            }),
            data: Some(data),
            ..ByHand::default()
        };
        let needs = [with(Data::Needs(0)), with(Data::Needs(4))];
        let loads = [with(Data::Loads(0)), with(Data::Loads(4))];
        let (few, many) = (words("load 10"), words("load 20 --replace"));
        let run = words("run");
        let step = |words, by_hand| Labelled::of("step".into(), words, Some(by_hand));
        // Loads of different tables stand beside each other.
        let lines = lines(&[
            step(&few, &loads[0]),
            step(&many, &loads[1]),
            step(&run, &needs[0]),
            step(&run, &needs[1]),
        ]);
        assert_eq!(
            lines[2..],
            [
                "loaded_1=no; load 10 && loaded_1=yes",
                "loaded_2=no; load 20 && loaded_2=yes",
                "[ \"$loaded_1\" = yes ] && run",
                "[ \"$loaded_2\" = yes ] && run",
            ]
        );
    }
}
