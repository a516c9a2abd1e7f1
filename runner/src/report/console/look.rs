//! How a report looks on the terminal at hand: colours and width.

use std::io::{self, IsTerminal};

use anstyle::{AnsiColor, Style};

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless NO_COLOR says otherwise; CLICOLOR_FORCE forces it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Colours and width of a report.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// The columns that prose may take.
    pub width: usize,
    pub(crate) bad: Style,
    pub(crate) doubtful: Style,
    pub(crate) good: Style,
    pub(crate) strong: Style,
    pub(crate) dim: Style,
}

/// What a report is set to where nothing tells how wide the terminal is.
const DEFAULT_WIDTH: usize = 80;
/// Longer lines are hard to read back to their start.
const WIDEST: usize = 100;
/// Below this nothing fits its indent.
const NARROWEST: usize = 40;

impl Look {
    /// Without colours.
    pub fn plain(width: usize) -> Look {
        Look {
            width: width.clamp(NARROWEST, WIDEST),
            bad: Style::new(),
            doubtful: Style::new(),
            good: Style::new(),
            strong: Style::new(),
            dim: Style::new(),
        }
    }

    /// With colours: the terminal's own, so that they suit its background.
    pub fn colored(width: usize) -> Look {
        let color = |color: AnsiColor| color.on_default();
        Look {
            bad: color(AnsiColor::Red).bold(),
            doubtful: color(AnsiColor::Yellow),
            good: color(AnsiColor::Green),
            strong: Style::new().bold(),
            dim: Style::new().dimmed(),
            ..Look::plain(width)
        }
    }

    /// What suits the standard output.
    pub fn stdout(color: Color) -> Look {
        let output = io::stdout();
        let width = width_of(&output);
        let colored = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => anstream::AutoStream::choice(&output) != anstream::ColorChoice::Never,
        };
        if colored {
            Look::colored(width)
        } else {
            Look::plain(width)
        }
    }
}

/// The width of a stream: COLUMNS, else the terminal's, else 80.
pub(crate) fn width_of(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> usize {
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.and_then(|columns| columns.parse().ok());
    let columns = columns.filter(|&columns| columns > 0);
    columns
        .or_else(|| {
            let (width, _) = terminal_size::terminal_size_of(stream)?;
            Some(usize::from(width.0)).filter(|&width| width > 0)
        })
        .unwrap_or(DEFAULT_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_neither_too_narrow_nor_too_wide() {
        assert_eq!(Look::plain(3).width, NARROWEST);
        assert_eq!(Look::plain(400).width, WIDEST);
        assert_eq!(Look::colored(90).width, 90);
    }
}
