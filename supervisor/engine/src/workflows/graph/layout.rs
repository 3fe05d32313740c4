//! Where the boxes and arrows of a picture go: in rows by dependency, a workflow below inside the box of its step.
//!
//! Pure, in whole pixels. An arrow over several rows has a free place in each of them, so that it crosses no box.
//! INVARIANT: boxes of one diagram do not overlap, and everything lies within its width and height.

use std::collections::BTreeMap;

use super::{Arrow, Edge, End, edges, group, layers};
use crate::workflows::check::{Does, Plan, PlanStep};
use crate::workflows::name::GroupName;

/// Between rows.
const BETWEEN: i64 = 44;
const PAD: i64 = 16;
const BOX: i64 = 48;
const HEAD: i64 = 50;
const FRAME_HEAD: i64 = 26;
const FRAME_PAD: i64 = 12;
/// Members of a group side by side.
const ABREAST: usize = 4;
/// The width of a free place for an arrow.
const LANE: i64 = 10;
/// The most places for arrows in one diagram; what needs more is left out.
const MOST_LANES: usize = 3_000;

#[derive(Debug)]
pub(super) struct Diagram<'p> {
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) boxes: Vec<Boxed<'p>>,
    pub(super) frames: Vec<Frame>,
    pub(super) lines: Vec<Line>,
    /// Arrows over several rows that there was no place for.
    pub(super) left_out: usize,
}

#[derive(Debug)]
pub(super) struct Boxed<'p> {
    pub(super) plan: &'p Plan,
    pub(super) step: &'p PlanStep,
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
    pub(super) height: i64,
    /// The workflow that it runs, and where in the box that begins.
    pub(super) inside: Option<(Diagram<'p>, i64, i64)>,
}

#[derive(Debug)]
pub(super) struct Frame {
    pub(super) name: GroupName,
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// Straight down between the first and the second point, a curve between the second and the third, and so on.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) points: Vec<(i64, i64)>,
    pub(super) arrow: Arrow,
}

/// What stands in a row: a step, a group or a lane.
#[derive(Debug, Default)]
pub(super) struct Cell<'p> {
    row: usize,
    pub(super) x: i64,
    pub(super) width: i64,
    height: i64,
    frame: Option<GroupName>,
    /// Placed relative to the cell.
    boxes: Vec<Boxed<'p>>,
    pub(super) above: Vec<usize>,
    pub(super) below: Vec<usize>,
}

impl Cell<'_> {
    pub(super) fn centre(&self) -> i64 {
        self.x + self.width / 2
    }
}

/// The words in a box: its heading and what is smaller.
pub(super) type Words<'w> = &'w dyn Fn(&Plan, &PlanStep) -> (i64, i64);

/// Lays out one workflow; `words` says how wide the heading and the small line of a step are.
pub(super) fn diagram<'p>(plan: &'p Plan, words: Words<'_>) -> Diagram<'p> {
    let mut sheet = Sheet::new(plan, words);
    let arrows = sheet.connect(plan);
    sheet.arrange();
    sheet.finish(arrows)
}

fn boxed<'p>(plan: &'p Plan, step: &'p PlanStep, words: Words<'_>) -> Boxed<'p> {
    let (heading, small) = words(plan, step);
    let least = heading.max(small) + 2 * PAD;
    let (width, height, inside) = match &step.does {
        Does::Agent(_) | Does::Cli(_) => (least, BOX, None),
        Does::Workflow(below) => {
            let diagram = diagram(below, words);
            let width = least.max(diagram.width + 2 * PAD);
            let height = HEAD + diagram.height + PAD;
            let left = (width - diagram.width) / 2;
            (width, height, Some((diagram, left, HEAD)))
        }
    };
    Boxed {
        plan,
        step,
        x: 0,
        y: 0,
        width,
        height,
        inside,
    }
}

/// An arrow from cell to cell, with how far from their left sides it begins and ends.
struct Way {
    cells: Vec<usize>,
    from: Option<usize>,
    to: Option<usize>,
    arrow: Arrow,
}

#[derive(Debug)]
pub(super) struct Sheet<'p> {
    pub(super) cells: Vec<Cell<'p>>,
    pub(super) rows: Vec<Vec<usize>>,
    of_step: BTreeMap<usize, usize>,
    of_group: BTreeMap<GroupName, usize>,
    members: BTreeMap<GroupName, Vec<usize>>,
    left_out: usize,
}

impl<'p> Sheet<'p> {
    fn new(plan: &'p Plan, words: Words<'_>) -> Self {
        let layers = layers(plan);
        let layer = |index: usize| layers.get(index).copied().unwrap_or(0);
        let mut members: BTreeMap<GroupName, Vec<usize>> = BTreeMap::new();
        for step in &plan.steps {
            if let Some(name) = group(plan, step) {
                members.entry(name.clone()).or_default().push(step.index);
            }
        }
        let in_one_row = |list: &[usize]| {
            list.iter()
                .all(|one| list.first().map(|first| layer(*first)) == Some(layer(*one)))
        };
        let mut sheet = Self {
            cells: Vec::new(),
            rows: vec![Vec::new(); layers.iter().max().map_or(0, |last| last + 1)],
            of_step: BTreeMap::new(),
            of_group: BTreeMap::new(),
            members,
            left_out: 0,
        };
        for step in &plan.steps {
            let name = group(plan, step).filter(|name| sheet.members.get(*name).is_some_and(|list| in_one_row(list)));
            let boxed = boxed(plan, step, words);
            let known = name.and_then(|name| sheet.of_group.get(name).copied());
            let at = known.unwrap_or_else(|| sheet.cell(layer(step.index)));
            sheet.of_step.insert(step.index, at);
            if let Some(name) = name {
                sheet.of_group.insert(name.clone(), at);
            }
            if let Some(cell) = sheet.cells.get_mut(at) {
                cell.frame = name.cloned();
                cell.boxes.push(boxed);
            }
        }
        for cell in &mut sheet.cells {
            fit(cell);
        }
        sheet
    }

    fn cell(&mut self, row: usize) -> usize {
        let at = self.cells.len();
        self.cells.push(Cell {
            row,
            width: LANE,
            ..Cell::default()
        });
        if let Some(row) = self.rows.get_mut(row) {
            row.push(at);
        }
        at
    }

    /// The arrows as ways through the rows.
    fn connect(&mut self, plan: &Plan) -> Vec<Way> {
        let mut lanes: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut ways = Vec::new();
        for edge in edges(plan) {
            for (from, to, arrow) in self.ends(&edge) {
                let (Some(start), Some(end)) = (self.at(&from), self.at(&to)) else {
                    continue;
                };
                let (first, last) = (self.row(start), self.row(end));
                if lanes.len() + last.saturating_sub(first) > MOST_LANES && last > first + 1 {
                    self.left_out += 1;
                    continue;
                }
                let mut cells = vec![start];
                for row in first + 1..last {
                    let lane = *lanes.entry((start, row)).or_insert_with(|| self.cell(row));
                    self.join(cells.last().copied(), lane);
                    cells.push(lane);
                }
                self.join(cells.last().copied(), end);
                cells.push(end);
                let inner = |end: &End| match end {
                    End::Step(index) => Some(*index),
                    End::Group(_) => None,
                };
                ways.push(Way {
                    cells,
                    from: inner(&from),
                    to: inner(&to),
                    arrow,
                });
            }
        }
        ways
    }

    /// A group that has no frame is all its members.
    fn ends(&self, edge: &Edge) -> Vec<(End, End, Arrow)> {
        let spread = |end: &End| match end {
            End::Group(name) if !self.of_group.contains_key(name) => {
                let members = self.members.get(name).into_iter().flatten();
                members.map(|index| End::Step(*index)).collect()
            }
            End::Group(_) | End::Step(_) => vec![end.clone()],
        };
        let to = spread(&edge.to);
        let pairs = spread(&edge.from).into_iter();
        pairs
            .flat_map(|from| to.iter().map(move |to| (from.clone(), to.clone(), edge.arrow)))
            .collect()
    }

    fn at(&self, end: &End) -> Option<usize> {
        match end {
            End::Step(index) => self.of_step.get(index).copied(),
            End::Group(name) => self.of_group.get(name).copied(),
        }
    }

    fn row(&self, cell: usize) -> usize {
        self.cells.get(cell).map_or(0, |cell| cell.row)
    }

    fn join(&mut self, from: Option<usize>, to: usize) {
        let Some(from) = from else { return };
        if let Some(cell) = self.cells.get_mut(from)
            && !cell.below.contains(&to)
        {
            cell.below.push(to);
            if let Some(cell) = self.cells.get_mut(to) {
                cell.above.push(from);
            }
        }
    }

    fn finish(mut self, ways: Vec<Way>) -> Diagram<'p> {
        let left = self.cells.iter().map(|cell| cell.x).min().unwrap_or(0);
        for cell in &mut self.cells {
            cell.x -= left;
        }
        let width = self.cells.iter().map(|cell| cell.x + cell.width).max().unwrap_or(0);
        let (mut tops, mut bottoms, mut y) = (Vec::new(), Vec::new(), 0);
        for row in &self.rows {
            let cells = row.iter().filter_map(|at| self.cells.get(*at));
            tops.push(y);
            y += cells.map(|cell| cell.height).max().unwrap_or(0);
            bottoms.push(y);
            y += BETWEEN;
        }
        let top = |row: usize| tops.get(row).copied().unwrap_or(0);
        let bottom = |row: usize| bottoms.get(row).copied().unwrap_or(0);
        let lines = ways.iter().map(|way| self.line(way, &top, &bottom)).collect();
        let (mut boxes, mut frames) = (Vec::new(), Vec::new());
        for cell in self.cells {
            let (x, y) = (cell.x, top(cell.row));
            frames.extend(cell.frame.map(|name| Frame {
                name,
                x,
                y,
                width: cell.width,
                height: cell.height,
            }));
            boxes.extend(cell.boxes.into_iter().map(|inner| Boxed {
                x: x + inner.x,
                y: y + inner.y,
                ..inner
            }));
        }
        Diagram {
            width,
            height: bottoms.last().copied().unwrap_or(0),
            boxes,
            frames,
            lines,
            left_out: self.left_out,
        }
    }

    fn line(&self, way: &Way, top: &dyn Fn(usize) -> i64, bottom: &dyn Fn(usize) -> i64) -> Line {
        let mut points = Vec::new();
        let last = way.cells.len().saturating_sub(1);
        for (index, cell) in way.cells.iter().filter_map(|at| self.cells.get(*at)).enumerate() {
            let inner = match index {
                0 => way.from,
                index if index == last => way.to,
                _ => None,
            };
            let member = inner.and_then(|step| cell.boxes.iter().find(|boxed| boxed.step.index == step));
            let x = member.map_or(cell.centre(), |boxed| cell.x + boxed.x + boxed.width / 2);
            if index > 0 {
                points.push((x, top(cell.row)));
            }
            if index == 0 {
                points.push((x, top(cell.row) + cell.height));
            }
            if index < last {
                points.push((x, bottom(cell.row)));
            }
        }
        Line {
            points,
            arrow: way.arrow,
        }
    }
}

/// Places the boxes of a cell within it.
fn fit(cell: &mut Cell<'_>) {
    let Some(widest) = cell.boxes.iter().map(|boxed| boxed.width).max() else {
        return;
    };
    if cell.frame.is_none() {
        cell.width = widest;
        cell.height = cell.boxes.iter().map(|boxed| boxed.height).max().unwrap_or(0);
        return;
    }
    let (mut y, mut width) = (FRAME_HEAD, 0);
    for row in cell.boxes.chunks_mut(ABREAST) {
        let (mut x, mut height) = (FRAME_PAD, 0);
        for boxed in row {
            (boxed.x, boxed.y) = (x, y);
            x += boxed.width + FRAME_PAD;
            height = height.max(boxed.height);
        }
        width = width.max(x);
        y += height + FRAME_PAD;
    }
    let name = cell
        .frame
        .as_ref()
        .map_or(0, |name| i64::try_from(name.as_str().len()).unwrap_or(0));
    cell.width = width.max((name + 6) * 7 + 2 * FRAME_PAD);
    cell.height = y;
}
