/* SPDX-License-Identifier: Apache-2.0 */
/* Values in PostgreSQL's binary format, which the types of the port have had since 7.4: big-endian numbers, 16 bytes of uuid, text and bytea
 * as they are; an array is its dimensions and then each element with its length in front. */
#include "db/postgres_private.h"

#include <string.h>

/* pg_type.dat: fixed for ever, because clients are compiled with them. */
enum {
  OID_BOOL = 16,
  OID_BYTEA = 17,
  OID_CHAR = 18,
  OID_NAME = 19,
  OID_INT8 = 20,
  OID_INT2 = 21,
  OID_INT4 = 23,
  OID_TEXT = 25,
  OID_JSON = 114,
  OID_FLOAT4 = 700,
  OID_FLOAT8 = 701,
  OID_BPCHAR = 1042,
  OID_VARCHAR = 1043,
  OID_UUID = 2950,
  OID_BYTEA_ARRAY = 1001,
  OID_TEXT_ARRAY = 1009,
  OID_INT8_ARRAY = 1016,
  OID_FLOAT8_ARRAY = 1022,
  OID_UUID_ARRAY = 2951
};

static const struct {
  char letter;
  Oid one, array;
} types[] = {
  {'i', OID_INT8, OID_INT8_ARRAY},
  {'t', OID_TEXT, OID_TEXT_ARRAY},
  {'d', OID_UUID, OID_UUID_ARRAY},
  {'b', OID_BYTEA, OID_BYTEA_ARRAY},
  {'r', OID_FLOAT8, OID_FLOAT8_ARRAY},
};

static Oid type_of(char letter, gboolean array) {
  for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
    if (types[i].letter == g_ascii_tolower(letter)) return array ? types[i].array : types[i].one;
  g_assert_not_reached();
}

static guint64 real_bits(double real) {
  guint64 bits;
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

/* The bytes of a value that is not null; `number` is where a number's are put. */
static const void *bytes_of(const PawlValue *value, guint64 *number, gsize *ret_bytes) {
  switch (value->type) {
  case PAWL_TYPE_INT:
  case PAWL_TYPE_REAL:
    *number = GUINT64_TO_BE(value->type == PAWL_TYPE_INT ? (guint64)value->i : real_bits(value->d));
    *ret_bytes = sizeof *number;
    return number;
  case PAWL_TYPE_TEXT: *ret_bytes = strlen(value->p); return value->p;
  case PAWL_TYPE_ID: *ret_bytes = PAWL_ID_BYTES; return value->p;
  case PAWL_TYPE_BLOB: *ret_bytes = value->bytes; return value->bytes > 0 ? value->p : "";
  case PAWL_TYPE_NULL: break;
  }
  *ret_bytes = 0;
  return NULL;
}

static void append_int(GByteArray *to, gint32 number) {
  gint32 big = GINT32_TO_BE(number);
  g_byte_array_append(to, (const guint8 *)&big, sizeof big);
}

/* Every n_values-th value from the first, as a one-dimensional array that counts from 1. */
static GByteArray *make_array(Oid element, const PawlValue *values, gsize n_values, gsize n_rows) {
  GByteArray *array = g_byte_array_new();
  gboolean nulls = FALSE;
  for (gsize i = 0; i < n_rows; i++) nulls |= values[i * n_values].type == PAWL_TYPE_NULL;
  append_int(array, 1);
  append_int(array, nulls);
  append_int(array, (gint32)element);
  append_int(array, (gint32)n_rows);
  append_int(array, 1);
  for (gsize i = 0; i < n_rows; i++) {
    guint64 number;
    gsize n;
    const void *bytes = bytes_of(&values[i * n_values], &number, &n);
    append_int(array, bytes != NULL ? (gint32)n : -1);
    if (n > 0) g_byte_array_append(array, bytes, (guint)n);
  }
  return array;
}

static void set_array(PawlPgParams *params, guint i, char letter, const PawlValue *values, gsize n_values, gsize n_rows) {
  GByteArray *array = make_array(type_of(letter, FALSE), values + i, n_values, n_rows);
  params->lengths[i] = (int)array->len;
  params->values[i] = (char *)g_byte_array_free(array, FALSE);
  g_ptr_array_add(params->owned, params->values[i]);
}

static void set_one(PawlPgParams *params, guint i, const PawlValue *value) {
  guint64 number;
  gsize n;
  const void *bytes = bytes_of(value, &number, &n);
  params->lengths[i] = (int)n;
  params->values[i] = (char *)bytes; /* libpq copies it when it sends */
  if (bytes != &number) return;
  params->values[i] = g_memdup2(&number, sizeof number);
  g_ptr_array_add(params->owned, params->values[i]);
}

void pawl_pg_params_init(PawlPgParams *params, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, gboolean arrays) {
  const char *letters = pawl_sql_info[sql].params;
  *params = (PawlPgParams){.n = (guint)n_values,
    .types = g_new(Oid, n_values),
    .values = g_new0(char *, n_values),
    .lengths = g_new0(int, n_values),
    .formats = g_new(int, n_values),
    .owned = g_ptr_array_new_with_free_func(g_free)};
  for (guint i = 0; i < n_values; i++) {
    params->types[i] = type_of(letters[i], arrays);
    params->formats[i] = 1;
    if (arrays)
      set_array(params, i, letters[i], values, n_values, n_rows);
    else
      set_one(params, i, &values[i]);
  }
}

void pawl_pg_params_clear(PawlPgParams *params) {
  g_free(params->types);
  g_free(params->values);
  g_free(params->lengths);
  g_free(params->formats);
  if (params->owned != NULL) g_ptr_array_unref(params->owned);
  *params = (PawlPgParams){0};
}

static gint64 read_int(const char *bytes, int n) {
  guint64 number = 0;
  for (int i = 0; i < n; i++) number = number << 8 | (guint8)bytes[i];
  if (n < 8 && n > 1 && (bytes[0] & 0x80) != 0) number |= G_MAXUINT64 << (8 * n);
  return (gint64)number;
}

static double read_real(const char *bytes, int n) {
  guint64 bits = (guint64)read_int(bytes, n);
  guint32 half = (guint32)bits;
  double real;
  float small;
  memcpy(&small, &half, sizeof small);
  memcpy(&real, &bits, sizeof real);
  return n == 4 ? (double)small : real;
}

PawlType pawl_pg_type(Oid type) {
  switch (type) {
  case OID_BOOL:
  case OID_INT2:
  case OID_INT4:
  case OID_INT8: return PAWL_TYPE_INT;
  case OID_FLOAT4:
  case OID_FLOAT8: return PAWL_TYPE_REAL;
  case OID_UUID:
  case OID_BYTEA: return PAWL_TYPE_BLOB;
  case OID_TEXT:
  case OID_VARCHAR:
  case OID_BPCHAR:
  case OID_NAME:
  case OID_CHAR:
  case OID_JSON: return PAWL_TYPE_TEXT;
  default: return PAWL_TYPE_NULL;
  }
}

void pawl_pg_value(const PGresult *result, int row, int column, PawlValue *ret_value) {
  if (PQgetisnull(result, row, column)) {
    *ret_value = PAWL_NULL;
    return;
  }
  const char *bytes = PQgetvalue(result, row, column);
  int n = PQgetlength(result, row, column);
  switch (pawl_pg_type(PQftype(result, column))) {
  case PAWL_TYPE_INT: *ret_value = PAWL_INT(read_int(bytes, n)); break;
  case PAWL_TYPE_REAL: *ret_value = (PawlValue){.type = PAWL_TYPE_REAL, .d = read_real(bytes, n)}; break;
  case PAWL_TYPE_BLOB: *ret_value = pawl_blob(bytes, (gsize)n); break;
  default: *ret_value = pawl_text(bytes); break;
  }
}
