/** SQL of the triggers on `asset` that call `count_inserted_<what>`, `count_updated_<what>` and `count_deleted_<what>`. */
export const countingTriggers = (what: string): string => `
      CREATE TRIGGER count_inserted_${what} AFTER INSERT ON asset
        REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_${what}();
      CREATE TRIGGER count_updated_${what} AFTER UPDATE ON asset
        REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_updated_${what}();
      CREATE TRIGGER count_deleted_${what} AFTER DELETE ON asset
        REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_${what}();
    `;
