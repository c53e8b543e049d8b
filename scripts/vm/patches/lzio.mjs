// The source of a script is a string.

export const lzio = [
  {
    from: '        this.buffer = null;\n        this.n = 0;\n    }\n}\n\nconst luaZ_buffer',
    to: "        this.text = '';\n    }\n}\n\nconst luaZ_buffer",
  },
  { fn: 'luaZ_buffer', to: '\nconst luaZ_buffer = (buff) => buff.text;\n' },
  {
    fn: 'luaZ_buffremove',
    to: '\nconst luaZ_buffremove = function(buff, i) {\n    buff.text = buff.text.slice(0, -i);\n};\n',
  },
  { fn: 'luaZ_resetbuffer', to: "\nconst luaZ_resetbuffer = function(buff) {\n    buff.text = '';\n};\n" },
  { fn: 'luaZ_resizebuffer', to: "\nconst luaZ_resizebuffer = function(L, buff) {\n    buff.text = '';\n};\n" },
  {
    from: 'return ((this.n--) > 0) ? this.buffer[this.off++] : luaZ_fill(this);',
    to: 'return this.off < this.data.length ? this.data.charCodeAt(this.off++) : EOZ;',
  },
]
