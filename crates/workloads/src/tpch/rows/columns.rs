//! The columns of each table, in the order of clause 1.4.1, and where its comments come from.

use super::text::ValueText;
use super::{Row, SUPPLIERS_OF_A_PART};
use std::sync::LazyLock;
use tidemark_drivers::RowWriter;
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    Customer, CustomerGenerator, CustomerGeneratorIterator, LineItem, LineItemGenerator,
    LineItemGeneratorIterator, Nation, NationGenerator, NationGeneratorIterator, Order,
    OrderGenerator, OrderGeneratorIterator, Part, PartGenerator, PartGeneratorIterator, PartSupp,
    PartSuppGenerator, PartSuppGeneratorIterator, Region, RegionGenerator, RegionGeneratorIterator,
    Supplier, SupplierGenerator, SupplierGeneratorIterator,
};
use tpchgen::text::TextPool;

/// What tpchgen cuts comments from that nobody reads: lengths don't depend on it.
static UNREAD: LazyLock<TextPool> =
    LazyLock::new(|| TextPool::new(4096, Distributions::static_default()));

impl Row for Region<'static> {
    const COMMENTS: (i64, f64, i32) = (1_500_869_201, 72.0, 1);
    type Rows = RegionGeneratorIterator<'static>;

    fn make(_scale: f64, _part: i32, _parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        RegionGenerator::new_with_distributions_and_text_pool(lists, &UNREAD).iter()
    }

    fn unit(&self) -> u64 {
        self.r_regionkey as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, _text: &mut ValueText) {
        row.int(self.r_regionkey);
        row.text(self.r_name);
        row.text(comment);
    }
}

impl Row for Nation<'static> {
    const COMMENTS: (i64, f64, i32) = (606_179_079, 72.0, 1);
    type Rows = NationGeneratorIterator<'static>;

    fn make(_scale: f64, _part: i32, _parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        NationGenerator::new_with_distributions_and_text_pool(lists, &UNREAD).iter()
    }

    fn unit(&self) -> u64 {
        self.n_nationkey as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, _text: &mut ValueText) {
        row.int(self.n_nationkey);
        row.text(self.n_name);
        row.int(self.n_regionkey);
        row.text(comment);
    }
}

impl Row for Part<'static> {
    const COMMENTS: (i64, f64, i32) = (804_159_733, 14.0, 1);
    type Rows = PartGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        PartGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        (self.p_partkey - 1) as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut ValueText) {
        row.int(self.p_partkey);
        row.text(text.shown(&self.p_name));
        row.text(text.shown(&self.p_mfgr));
        row.text(text.shown(&self.p_brand));
        row.text(self.p_type);
        row.int(self.p_size.into());
        row.text(self.p_container);
        row.text(text.money(self.p_retailprice));
        row.text(comment);
    }
}

impl Row for Supplier {
    const COMMENTS: (i64, f64, i32) = (1_341_315_363, 63.0, 1);
    type Rows = SupplierGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        SupplierGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        (self.s_suppkey - 1) as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut ValueText) {
        row.int(self.s_suppkey);
        row.text(text.shown(&self.s_name));
        row.text(text.shown(&self.s_address));
        row.int(self.s_nationkey);
        row.text(text.shown(&self.s_phone));
        row.text(text.money(self.s_acctbal));
        row.text(comment);
    }

    /// Ten in ten thousand suppliers have "Customer", some way and "Complaints" or "Recommends"
    /// written over their comments (clause 4.2.3). The text itself has no capitals.
    fn overlay(&self, comment: &mut [u8]) {
        for word in [
            SupplierGenerator::BBB_BASE_TEXT,
            SupplierGenerator::BBB_COMPLAINT_TEXT,
            SupplierGenerator::BBB_RECOMMEND_TEXT,
        ] {
            let at = self.s_comment.find(word);
            if let Some(place) = at.and_then(|at| comment.get_mut(at..at + word.len())) {
                place.copy_from_slice(word.as_bytes());
            }
        }
    }
}

impl Row for PartSupp<'static> {
    const COMMENTS: (i64, f64, i32) = (1_961_692_154, 124.0, SUPPLIERS_OF_A_PART as i32);
    type Rows = PartSuppGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        PartSuppGenerator::new_with_text_pool(scale, part, parts, &UNREAD).iter()
    }

    fn unit(&self) -> u64 {
        (self.ps_partkey - 1) as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut ValueText) {
        row.int(self.ps_partkey);
        row.int(self.ps_suppkey);
        row.int(self.ps_availqty.into());
        row.text(text.money(self.ps_supplycost));
        row.text(comment);
    }
}

impl Row for Customer<'static> {
    const COMMENTS: (i64, f64, i32) = (1_335_826_707, 73.0, 1);
    type Rows = CustomerGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        CustomerGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        (self.c_custkey - 1) as u64
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut ValueText) {
        row.int(self.c_custkey);
        row.text(text.shown(&self.c_name));
        row.text(text.shown(&self.c_address));
        row.int(self.c_nationkey);
        row.text(text.shown(&self.c_phone));
        row.text(text.money(self.c_acctbal));
        row.text(self.c_mktsegment);
        row.text(comment);
    }
}

/// The number of an order, from 0, by its key: of each 32 keys the first eight are used (clause
/// 4.2.3), and the first of all is 1.
pub fn order_of(key: i64) -> u64 {
    let index = (key >> 5) << 3 | (key & 7);
    (index - 1) as u64
}

impl Row for Order<'static> {
    const COMMENTS: (i64, f64, i32) = (276_090_261, 49.0, 1);
    type Rows = OrderGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        OrderGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        order_of(self.o_orderkey)
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut ValueText) {
        row.int(self.o_orderkey);
        row.int(self.o_custkey);
        row.text(self.o_orderstatus.as_str());
        row.text(text.money(self.o_totalprice));
        row.text(text.date(self.o_orderdate));
        row.text(self.o_orderpriority);
        row.text(text.shown(&self.o_clerk));
        row.int(self.o_shippriority.into());
        row.text(comment);
    }
}

impl Row for LineItem<'static> {
    const COMMENTS: (i64, f64, i32) = (1_095_462_486, 27.0, OrderGenerator::LINE_COUNT_MAX);
    type Rows = LineItemGeneratorIterator<'static>;

    fn make(scale: f64, part: i32, parts: i32) -> Self::Rows {
        let lists = Distributions::static_default();
        LineItemGenerator::new_with_distributions_and_text_pool(scale, part, parts, lists, &UNREAD)
            .iter()
    }

    fn unit(&self) -> u64 {
        order_of(self.l_orderkey)
    }

    fn write(&self, comment: &str, row: &mut RowWriter<'_>, text: &mut ValueText) {
        row.int(self.l_orderkey);
        row.int(self.l_partkey);
        row.int(self.l_suppkey);
        row.int(self.l_linenumber.into());
        row.int(self.l_quantity);
        row.text(text.money(self.l_extendedprice));
        row.text(text.fraction(self.l_discount));
        row.text(text.fraction(self.l_tax));
        row.text(self.l_returnflag);
        row.text(self.l_linestatus);
        row.text(text.date(self.l_shipdate));
        row.text(text.date(self.l_commitdate));
        row.text(text.date(self.l_receiptdate));
        row.text(self.l_shipinstruct);
        row.text(self.l_shipmode);
        row.text(comment);
    }
}
