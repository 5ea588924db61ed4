/* SPDX-License-Identifier: MIT */
/* storlua_xlsx: workbooks from Lua tables, by libxlsxwriter.
 *
 *   write(path, {sheets = {sheet, …}})  ->  true, or nil and a message
 *
 *   sheet.name    at most 31 characters
 *   sheet.rows    list of rows, each a list of cells: a number, a text, false
 *                 for none, or {value, style}; styles: "head", "cached",
 *                 "failed", "title"
 *   sheet.columns count of cells in the longest row
 *   sheet.widths  list of column widths in characters
 *   sheet.scale   {row, column, row, column}: a colour scale over these cells
 *   sheet.chart   {title, x, y, x_min, x_max, row, column, records = area,
 *                 series = {{name, area}, …}}: lines over a logarithmic axis
 *
 * Rows and columns count from 1.  A module of its own, loaded on use. */
#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <string.h>
#include <xlsxwriter.h>

#define ROWS_MAX 1048576

enum { STYLE_HEAD, STYLE_CACHED, STYLE_FAILED, STYLE_TITLE, STYLES };
static const char *const style_names[] = {"head", "cached", "failed", "title",
                                          NULL};

struct book {
  lxw_workbook *workbook;
  lxw_format *styles[STYLES];
};

struct area {
  lxw_row_t first_row, last_row;
  lxw_col_t first_column, last_column;
};

int luaopen_storlua_xlsx(lua_State *L);

static lua_Integer integer_at(lua_State *L, int table, lua_Integer index) {
  lua_geti(L, table, index);
  lua_Integer value = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return value;
}

/* The area {row, column, row, column} on top of the stack, which it pops. */
static bool pop_area(lua_State *L, struct area *area) {
  bool found = lua_istable(L, -1);
  if (found) {
    int table = lua_gettop(L);
    area->first_row = (lxw_row_t)(integer_at(L, table, 1) - 1);
    area->first_column = (lxw_col_t)(integer_at(L, table, 2) - 1);
    area->last_row = (lxw_row_t)(integer_at(L, table, 3) - 1);
    area->last_column = (lxw_col_t)(integer_at(L, table, 4) - 1);
  }
  lua_pop(L, 1);
  return found;
}

static void make_styles(struct book *book) {
  for (int i = 0; i < STYLES; i++)
    book->styles[i] = workbook_add_format(book->workbook);
  format_set_bold(book->styles[STYLE_HEAD]);
  format_set_bg_color(book->styles[STYLE_HEAD], 0xE0E6EE);
  format_set_italic(book->styles[STYLE_CACHED]);
  format_set_font_color(book->styles[STYLE_CACHED], 0x808080);
  format_set_bold(book->styles[STYLE_FAILED]);
  format_set_font_color(book->styles[STYLE_FAILED], 0xC00000);
  format_set_bold(book->styles[STYLE_TITLE]);
  format_set_font_size(book->styles[STYLE_TITLE], 14);
}

/* The cell on top of the stack stays there. */
static void put_cell(lua_State *L, struct book *book, lxw_worksheet *sheet,
                     lxw_row_t row, lxw_col_t column) {
  lxw_format *style = NULL;
  int value = lua_gettop(L);
  if (lua_istable(L, value)) {
    lua_geti(L, value, 2);
    for (int i = 0; i < STYLES; i++) {
      const char *name = lua_tostring(L, -1);
      if (name && strcmp(name, style_names[i]) == 0) style = book->styles[i];
    }
    lua_pop(L, 1);
    lua_geti(L, value, 1);
  } else {
    lua_pushvalue(L, value);
  }
  if (lua_type(L, -1) == LUA_TNUMBER) {
    worksheet_write_number(sheet, row, column, lua_tonumber(L, -1), style);
  } else if (lua_type(L, -1) == LUA_TSTRING) {
    worksheet_write_string(sheet, row, column, lua_tostring(L, -1), style);
  }
  lua_pop(L, 1);
}

static void put_rows(lua_State *L, struct book *book, lxw_worksheet *sheet,
                     int table) {
  lua_getfield(L, table, "columns");
  lua_Integer columns = lua_tointeger(L, -1);
  lua_getfield(L, table, "rows"); /* columns rows */
  lua_Integer rows = lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : 0;
  for (lua_Integer r = 1; r <= rows && r <= ROWS_MAX; r++) {
    lua_geti(L, -1, r); /* columns rows row */
    for (lua_Integer c = 1; c <= columns; c++) {
      lua_geti(L, -1, c);
      put_cell(L, book, sheet, (lxw_row_t)(r - 1), (lxw_col_t)(c - 1));
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

static void put_widths(lua_State *L, lxw_worksheet *sheet, int table) {
  lua_getfield(L, table, "widths");
  lua_Integer count = lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : 0;
  for (lua_Integer i = 1; i <= count; i++) {
    lua_geti(L, -1, i);
    worksheet_set_column(sheet, (lxw_col_t)(i - 1), (lxw_col_t)(i - 1),
                         lua_tonumber(L, -1), NULL);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void put_scale(lua_State *L, lxw_worksheet *sheet, int table) {
  struct area area;
  lua_getfield(L, table, "scale");
  if (!pop_area(L, &area)) return;
  lxw_conditional_format scale = {
      .type = LXW_CONDITIONAL_3_COLOR_SCALE,
      .min_color = 0xF8A5A5,
      .mid_color = 0xFFF2B3,
      .max_color = 0xA8DDA8,
  };
  worksheet_conditional_format_range(sheet, area.first_row, area.first_column,
                                     area.last_row, area.last_column, &scale);
}

static const char *text_at(lua_State *L, int table, const char *key) {
  lua_getfield(L, table, key);
  const char *text = lua_tostring(L, -1);
  lua_pop(L, 1); /* the table keeps it */
  return text ? text : "";
}

static void put_series(lua_State *L, lxw_chart *chart, const char *sheet,
                       const struct area *records) {
  lua_Integer count = lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : 0;
  for (lua_Integer i = 1; i <= count; i++) {
    lua_geti(L, -1, i); /* series one */
    int one = lua_gettop(L);
    struct area values;
    lua_getfield(L, one, "area");
    if (pop_area(L, &values)) {
      lxw_chart_series *series = chart_add_series(chart, NULL, NULL);
      chart_series_set_name(series, text_at(L, one, "name"));
      chart_series_set_categories(series, sheet, records->first_row,
                                  records->first_column, records->last_row,
                                  records->last_column);
      chart_series_set_values(series, sheet, values.first_row,
                              values.first_column, values.last_row,
                              values.last_column);
    }
    lua_pop(L, 1);
  }
}

static void put_chart(lua_State *L, struct book *book, lxw_worksheet *sheet,
                      int table) {
  struct area records;
  lua_getfield(L, table, "chart");
  int given = lua_gettop(L);
  if (lua_istable(L, given)) {
    lua_getfield(L, given, "records");
    if (pop_area(L, &records)) {
      lxw_chart *chart = workbook_add_chart(
          book->workbook, LXW_CHART_SCATTER_STRAIGHT_WITH_MARKERS);
      lua_getfield(L, given, "series");
      put_series(L, chart, text_at(L, table, "name"), &records);
      lua_pop(L, 1);
      chart_title_set_name(chart, text_at(L, given, "title"));
      chart_axis_set_name(chart->x_axis, text_at(L, given, "x"));
      chart_axis_set_name(chart->y_axis, text_at(L, given, "y"));
      chart_axis_set_log_base(chart->x_axis, 2);
      lua_getfield(L, given, "x_min");
      lua_getfield(L, given, "x_max");
      chart_axis_set_min(chart->x_axis, lua_tonumber(L, -2));
      chart_axis_set_max(chart->x_axis, lua_tonumber(L, -1));
      lua_pop(L, 2);
      lxw_chart_options size = {.x_scale = 1.8, .y_scale = 1.5};
      lua_getfield(L, given, "row");
      lua_getfield(L, given, "column");
      worksheet_insert_chart_opt(sheet, (lxw_row_t)(lua_tointeger(L, -2) - 1),
                                 (lxw_col_t)(lua_tointeger(L, -1) - 1), chart,
                                 &size);
      lua_pop(L, 2);
    }
  }
  lua_settop(L, given - 1);
}

static bool put_sheet(lua_State *L, struct book *book) { /* sheet */
  int table = lua_gettop(L);
  lxw_worksheet *sheet =
      workbook_add_worksheet(book->workbook, text_at(L, table, "name"));
  if (!sheet) return false;
  put_rows(L, book, sheet, table);
  put_widths(L, sheet, table);
  put_scale(L, sheet, table);
  put_chart(L, book, sheet, table);
  worksheet_set_landscape(sheet);
  worksheet_fit_to_pages(sheet, 1, 0);
  return true;
}

static int l_write(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_getfield(L, 2, "sheets");
  luaL_argcheck(L, lua_istable(L, -1), 2, "sheets is missing");
  int sheets = lua_gettop(L);
  lua_Integer count = (lua_Integer)lua_rawlen(L, sheets);
  for (lua_Integer i = 1; i <= count; i++) {
    bool is_table = lua_geti(L, sheets, i) == LUA_TTABLE;
    luaL_argcheck(L, is_table, 2, "a sheet is no table");
    lua_pop(L, 1);
  }
  struct book book = {.workbook = workbook_new(path)};
  if (!book.workbook) return luaL_error(L, "out of memory");
  make_styles(&book);
  bool good = true;
  for (lua_Integer i = 1; i <= count; i++) {
    lua_geti(L, sheets, i);
    good = put_sheet(L, &book) && good;
    lua_pop(L, 1);
  }
  lxw_error code = workbook_close(book.workbook); /* frees it in any case */
  if (code == LXW_NO_ERROR && good) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, code == LXW_NO_ERROR ? "a sheet has a name that is not "
                                           "allowed or given twice"
                                         : lxw_strerror(code));
  return 2;
}

int luaopen_storlua_xlsx(lua_State *L) {
  static const luaL_Reg functions[] = {{"write", l_write}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
