// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

/** The ways in which a message is filled; the README describes them. */
enum Variant {
    DEFAULT("default"),
    FILLED("filled"),
    FILLED_2("filled2"),
    NULLS("nulls"),
    NULLS_INNER("nullsInner");

    final String label;

    Variant(String label) {
        this.label = label;
    }
}
