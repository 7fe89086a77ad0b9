print('embed')
