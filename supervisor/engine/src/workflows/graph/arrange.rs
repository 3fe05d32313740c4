//! In which order and how far to the right the cells of each row stand.
//!
//! Pure. Good, not best: a few sweeps down and up the rows. INVARIANT: cells of a row stay `GAP` apart.

use super::layout::{Cell, Sheet};

/// Between cells of a row.
const GAP: i64 = 28;
const SWEEPS: usize = 8;

/// Whose places a sweep goes by.
#[derive(Debug, Clone, Copy)]
enum Side {
    Above,
    Below,
}

impl Side {
    fn of(sweep: usize) -> Self {
        if sweep.is_multiple_of(2) {
            Self::Above
        } else {
            Self::Below
        }
    }
}

impl Sheet<'_> {
    /// Orders each row by where its neighbours are, then moves the cells towards them.
    pub(super) fn arrange(&mut self) {
        for sweep in 0..SWEEPS {
            self.pack();
            let near = Side::of(sweep);
            for row in self.sweep(near) {
                let mut cells = self.rows.get(row).cloned().unwrap_or_default();
                cells.sort_by_key(|cell| self.wish(*cell, near));
                if let Some(row) = self.rows.get_mut(row) {
                    *row = cells;
                }
                self.pack_row(row);
            }
        }
        self.pack();
        for sweep in 0..2 * SWEEPS {
            let near = Side::of(sweep);
            for row in self.sweep(near) {
                self.settle(row, near);
            }
        }
    }

    fn sweep(&self, near: Side) -> Vec<usize> {
        let rows = 0..self.rows.len();
        match near {
            Side::Above => rows.collect(),
            Side::Below => rows.rev().collect(),
        }
    }

    /// Where a cell's centre would like to be.
    fn wish(&self, cell: usize, near: Side) -> i64 {
        let Some(cell) = self.cells.get(cell) else { return 0 };
        let near = match near {
            Side::Above => &cell.above,
            Side::Below => &cell.below,
        };
        let centres: Vec<i64> = near
            .iter()
            .filter_map(|at| self.cells.get(*at))
            .map(Cell::centre)
            .collect();
        match i64::try_from(centres.len()) {
            Ok(count) if count > 0 => centres.iter().sum::<i64>() / count,
            Ok(_) | Err(_) => cell.centre(),
        }
    }

    fn pack(&mut self) {
        for row in 0..self.rows.len() {
            self.pack_row(row);
        }
    }

    /// Side by side, around zero.
    fn pack_row(&mut self, row: usize) {
        let row = self.rows.get(row).cloned().unwrap_or_default();
        let widths = row
            .iter()
            .filter_map(|at| self.cells.get(*at))
            .map(|cell| cell.width + GAP);
        let mut x = -(widths.sum::<i64>() - GAP) / 2;
        for at in row {
            if let Some(cell) = self.cells.get_mut(at) {
                cell.x = x;
                x += cell.width + GAP;
            }
        }
    }

    /// As near to the wishes as the neighbours let: the mean of what is right from the left and from the right.
    fn settle(&mut self, row: usize, near: Side) {
        let row = self.rows.get(row).cloned().unwrap_or_default();
        let wishes: Vec<(i64, i64)> = row
            .iter()
            .map(|at| {
                let width = self.cells.get(*at).map_or(0, |cell| cell.width);
                (self.wish(*at, near) - width / 2, width)
            })
            .collect();
        let mut from_left = Vec::new();
        let mut edge = i64::MIN;
        for (x, width) in &wishes {
            let x = edge.max(*x);
            from_left.push(x);
            edge = x + width + GAP;
        }
        let mut from_right = Vec::new();
        let mut edge = i64::MAX;
        for (x, width) in wishes.iter().rev() {
            let x = (edge - width).min(*x);
            from_right.push(x);
            edge = x - GAP;
        }
        for ((at, left), right) in row.iter().zip(from_left).zip(from_right.into_iter().rev()) {
            if let Some(cell) = self.cells.get_mut(*at) {
                // Rounded down both times, so that what was apart stays apart.
                cell.x = (left + right).div_euclid(2);
            }
        }
    }
}
